#include "core/client/import_trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/client/trace_reader.h"
#include "core/records/headline.h"
#include "core/records/rows.h"
#include "core/records/statistics.h"

namespace kernelscope {

namespace {

constexpr const char* kUnattributed = "unattributed";

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The type that a module class's own time counts to; empty for one that belongs to whatever it stands in.
std::string typeOf(std::string_view name) {
    if (holds(name, "Rotary")) return "Rotary";
    if (holds(name, "Attention")) return "Attention";
    if (holds(name, "MLP") || holds(name, "FeedForward")) return "MLP";
    if (holds(name, "RMSNorm") || holds(name, "LayerNorm")) return "RMSNorm";
    if (holds(name, "Embedding")) return "Embedding";
    if (holds(name, "DecoderLayer")) return "Residual";  // what is left of a layer are its adds
    return {};
}

/// Sums by name and pass.
class Sums {
public:
    explicit Sums(std::size_t passes) : m_passes(passes) {}
    struct Entry {
        std::vector<double> span, gpu;
        std::int64_t calls = 0, kernels = 0;
    };
    Entry& at(const std::string& name) {
        const auto [found, isNew] = m_index.emplace(name, m_entries.size());
        if (isNew) m_entries.push_back({name, {std::vector<double>(m_passes), std::vector<double>(m_passes), 0, 0}});
        return m_entries[found->second].second;
    }
    std::vector<std::pair<std::string, Entry>>& entries() { return m_entries; }

private:
    std::size_t m_passes;
    std::map<std::string, std::size_t> m_index;
    std::vector<std::pair<std::string, Entry>> m_entries;
};

/// The passes of a trace: its steps, in order of time, or one that holds everything.
std::vector<TraceEvent> passesOf(const Trace& trace) {
    std::vector<TraceEvent> passes = trace.steps;
    if (passes.empty()) {
        double begin = std::numeric_limits<double>::infinity(), end = 0;
        for (const auto* list : {&trace.kernels, &trace.modules, &trace.launches})
            for (const TraceEvent& event : *list) {
                begin = std::min(begin, event.begin);
                end = std::max(end, event.end());
            }
        passes.push_back({0, 0, -1, begin, end - begin});
    }
    std::sort(passes.begin(), passes.end(), [](const TraceEvent& a, const TraceEvent& b) { return a.begin < b.begin; });
    return passes;
}

/// Index of the pass that a moment falls into, or -1.
int passAt(const std::vector<TraceEvent>& passes, double moment) {
    const auto after = std::upper_bound(passes.begin(), passes.end(), moment, [](double value, const TraceEvent& pass) { return value < pass.begin; });
    if (after == passes.begin()) return -1;
    const auto found = std::prev(after);
    return moment <= found->end() ? static_cast<int>(found - passes.begin()) : -1;
}

struct Attribution {
    std::string type;
    double moment = 0;  ///< when it was launched
};

/// Walks modules and launches of each thread in order of time: self times go to the sums, launches to their module's type.
std::unordered_map<std::int64_t, Attribution> attribute(Trace& trace, const std::vector<TraceEvent>& passes, Sums& sums) {
    const auto inOrder = [](const TraceEvent& a, const TraceEvent& b) {
        return std::tuple(a.thread, a.begin, -a.duration) < std::tuple(b.thread, b.begin, -b.duration);
    };
    std::sort(trace.modules.begin(), trace.modules.end(), inOrder);
    std::sort(trace.launches.begin(), trace.launches.end(), inOrder);
    struct Open {
        const TraceEvent* module;
        std::string type;
        double inside = 0;
    };
    std::vector<Open> open;
    std::unordered_map<std::int64_t, Attribution> launched;
    const auto close = [&] {
        const Open last = std::move(open.back());
        open.pop_back();
        if (!open.empty()) open.back().inside += last.module->duration;
        if (const int pass = passAt(passes, last.module->begin); pass >= 0 && !last.type.empty())
            sums.at(last.type).span[static_cast<std::size_t>(pass)] += std::max(0.0, last.module->duration - last.inside);
    };
    std::size_t m = 0, l = 0;
    while (m < trace.modules.size() || l < trace.launches.size()) {
        const bool moduleFirst = l == trace.launches.size() || (m < trace.modules.size() && inOrder(trace.modules[m], trace.launches[l]));
        const TraceEvent& event = moduleFirst ? trace.modules[m] : trace.launches[l];
        while (!open.empty() && (open.back().module->thread != event.thread || open.back().module->end() <= event.begin)) close();
        if (moduleFirst) {
            std::string type = typeOf(trace.names[event.name]);
            const bool own = !type.empty();
            if (!own && !open.empty()) type = open.back().type;
            // A Linear outside everything that has a type is the LM head.
            if (type.empty() && holds(trace.names[event.name], "Linear")) type = "LM head";
            if ((own || type == "LM head") && passAt(passes, event.begin) >= 0) ++sums.at(type).calls;
            open.push_back({&event, std::move(type)});
            ++m;
        } else {
            launched[event.correlation] = {open.empty() ? std::string() : open.back().type, event.begin};
            ++l;
        }
    }
    while (!open.empty()) close();
    return launched;
}

ProfileRow rowOf(const std::string& level, const std::string& name, const std::string& type, const Sums::Entry& entry, std::span<const double> totalSpan, std::span<const double> totalGpu,
                 bool hasSpans, bool hasKernels) {
    const auto passes = static_cast<std::int64_t>(entry.span.size());
    ProfileRow row{"decode", level, name, type};
    const auto share = [](std::span<const double> part, std::span<const double> whole, std::optional<double>& pct, std::optional<double>& low, std::optional<double>& high) {
        double a = 0, b = 0;
        for (std::size_t i = 0; i < part.size(); ++i) {
            a += part[i];
            b += whole[i];
        }
        if (!(b > 0)) return;
        pct = 100 * a / b;
        constexpr std::size_t kFewest = 5;  // fewer passes have no interval worth the name
        if (part.size() < kFewest) return;
        const Interval interval = bootstrapRatioOfSums(part, whole);
        low = 100 * interval.low;
        high = 100 * interval.high;
    };
    if (entry.calls) row.calls = entry.calls / passes;
    if (hasSpans) {
        row.spanUs = row.selfSpanUs = median(entry.span);
        share(entry.span, totalSpan, row.spanSharePct, row.spanShareCiLowPct, row.spanShareCiHighPct);
    }
    if (hasKernels) {
        row.kernels = entry.kernels / passes;
        row.gpuUs = row.selfGpuUs = row.kernelUs = median(entry.gpu);
        share(entry.gpu, totalGpu, row.gpuSharePct, row.gpuShareCiLowPct, row.gpuShareCiHighPct);
    }
    if (row.spanUs && row.gpuUs) row.gapUs = *row.spanUs - *row.gpuUs;
    return row;
}

}  // namespace

bool looksLikeTrace(std::string_view beginning) {
    const auto first = beginning.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    return beginning[first] == '[' || holds(beginning, "\"traceEvents\"");
}

Result<ImportedRun> profileOfTrace(std::istream& input, const std::string& name) {
    auto read = readTrace(input);
    if (!read) return read.error();
    Trace& trace = *read;
    const auto passes = passesOf(trace);
    const bool hasModules = !trace.modules.empty(), hasKernels = !trace.kernels.empty();
    const std::string level = hasModules ? "type" : "kernel";

    Sums sums(passes.size());
    const auto launched = attribute(trace, passes, sums);
    std::vector<double> totalSpan, totalGpu(passes.size());
    for (const TraceEvent& pass : passes) totalSpan.push_back(pass.duration);
    std::int64_t orphans = 0;
    for (const TraceEvent& kernel : trace.kernels) {
        const auto found = launched.find(kernel.correlation);
        const int pass = passAt(passes, found == launched.end() ? kernel.begin : found->second.moment);
        if (pass < 0) continue;
        orphans += found == launched.end();
        std::string row = hasModules ? (found == launched.end() || found->second.type.empty() ? std::string(kUnattributed) : found->second.type) : trace.names[kernel.name];
        Sums::Entry& entry = sums.at(row);
        entry.gpu[static_cast<std::size_t>(pass)] += kernel.duration;
        ++entry.kernels;
        totalGpu[static_cast<std::size_t>(pass)] += kernel.duration;
    }
    if (hasModules) {
        // What no module covers.
        Sums::Entry& rest = sums.at(kUnattributed);
        rest.span = totalSpan;
        for (const auto& [type, entry] : sums.entries())
            if (type != kUnattributed)
                for (std::size_t i = 0; i < passes.size(); ++i) sums.at(kUnattributed).span[i] = std::max(0.0, sums.at(kUnattributed).span[i] - entry.span[i]);
    }

    std::vector<ProfileRow> rows;
    for (const auto& [type, entry] : sums.entries())
        if (type != kUnattributed) rows.push_back(rowOf(level, type, hasModules ? type : kUnattributed, entry, totalSpan, totalGpu, hasModules, hasKernels));
    std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) { return a.gpuUs.value_or(a.spanUs.value_or(0)) > b.gpuUs.value_or(b.spanUs.value_or(0)); });
    if (hasModules) rows.push_back(rowOf(level, kUnattributed, kUnattributed, sums.at(kUnattributed), totalSpan, totalGpu, true, hasKernels));
    Sums::Entry all{totalSpan, totalGpu, static_cast<std::int64_t>(passes.size()), static_cast<std::int64_t>(trace.kernels.size())};
    rows.push_back(rowOf(level, "total", "total", all, totalSpan, totalGpu, true, hasKernels));

    std::vector<std::string> missing{"the phase is not known and shown as decode", "the profiler's own cost is inside the spans"};
    if (!hasModules) missing.push_back("no module spans: profile with with_modules=True");
    if (!hasKernels) missing.push_back("no kernels: profile with ProfilerActivity.CUDA");
    if (trace.steps.empty()) missing.push_back("no profiler steps: the whole trace counts as one pass, and there are no intervals");
    if (orphans > 0) missing.push_back(std::to_string(orphans) + " kernels without the call that launched them");

    RunHeader header;
    header.kind = RowSchema<ProfileRow>::kName;
    header.command = "an imported trace";
    header.model = name;
    header.weights = "file";
    header.device = trace.device.empty() ? "not known" : trace.device;
    header.settings = {{"phase", "decode"}, {"level", level}, {"mode", "eager"}, {"iterations", passes.size()}};
    header.status = RunStatus::done;
    header.headline = profileHeadline(rows);
    header.result = {{"missing", missing}};
    std::vector<RowRecord> records;
    for (std::size_t i = 0; i < rows.size(); ++i) records.push_back({header.kind, std::to_string(i), valuesOf(rows[i])});
    return ImportedRun{std::move(header), std::move(records)};
}

Result<RunHeader> importTrace(Store& store, std::istream& input, const std::string& name) {
    const auto run = profileOfTrace(input, name);
    if (!run) return run.error();
    auto made = store.createRun(run->header);
    if (!made) return made;
    if (const auto put = store.putRows(made->id, run->rows); !put) return put.error();
    return made;
}

}  // namespace kernelscope
