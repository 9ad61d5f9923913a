#include "core/measure/gpu_columns.h"

#include <map>

#include <fmt/format.h>

#include "core/records/statistics.h"

namespace kernelscope {
namespace {

/// GPU time of one row.
struct GpuSum {
    std::int64_t kernels = 0;
    double us = 0, kernelUs = 0;
    std::vector<double> replaysUs;

    void add(const GraphNode& node) {
        if (node.kind == NodeKind::kernel) ++kernels;
        us += node.backToBackUs;
        kernelUs += node.kernelUs;
        replaysUs.resize(node.replaysUs.size(), 0.0);
        for (std::size_t replay = 0; replay < node.replaysUs.size(); ++replay) replaysUs[replay] += node.replaysUs[replay];
    }
};

/// The nearest module around `module`, itself included, that the level times; -1: none.
int timedAround(int module, const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    while (module >= 0 && !isTimedAt(level, modules[static_cast<std::size_t>(module)])) module = modules[static_cast<std::size_t>(module)].parent;
    return module;
}

struct Sums {
    std::vector<GpuSum> self, inclusive;  // by group
    GpuSum unattributed, total;
};

Sums sumByGroup(const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level, const RowGroups& groups) {
    Sums sums;
    sums.self.resize(groups.groups.size());
    sums.inclusive.resize(groups.groups.size());
    for (const GraphNode& node : graph.nodes) {
        sums.total.add(node);
        int module = timedAround(node.module, modules, level);
        if (module < 0) {
            sums.unattributed.add(node);
            continue;
        }
        sums.self[static_cast<std::size_t>(groups.groupOf[static_cast<std::size_t>(module)])].add(node);
        for (; module >= 0; module = timedAround(modules[static_cast<std::size_t>(module)].parent, modules, level)) {
            sums.inclusive[static_cast<std::size_t>(groups.groupOf[static_cast<std::size_t>(module)])].add(node);
        }
    }
    return sums;
}

void fillShare(ProfileRow& row, const GpuSum& self, const GpuSum& total) {
    row.selfGpuUs = self.us;
    if (total.us <= 0) return;
    row.gpuSharePct = 100.0 * self.us / total.us;
    if (self.replaysUs.empty()) {
        row.gpuShareCiLowPct = row.gpuShareCiHighPct = 0.0;
        return;
    }
    const Interval share = bootstrapRatioOfSums(self.replaysUs, total.replaysUs);
    row.gpuShareCiLowPct = 100.0 * share.low;
    row.gpuShareCiHighPct = 100.0 * share.high;
}

void fillKernels(ProfileRow& row, const GraphProfile& graph, const GpuSum& sum) {
    if (!graph.kernelsKnown) return;
    row.kernels = sum.kernels;
    row.kernelUs = sum.kernelUs;
}

void fillTotal(ProfileRow& row, const GraphProfile& graph, const GpuSum& total) {
    fillKernels(row, graph, total);
    row.gpuUs = graph.plainUs;
    row.gpuSharePct = 100.0;
}

std::string joined(const std::string& note, const std::string& more) { return note.empty() ? more : more.empty() ? note : note + "; " + more; }

std::string noteOf(const GraphProfile& graph) {
    std::string note = "gpu time: " + graph.method;
    for (const std::string& warning : graph.warnings) note = joined(note, warning);
    return note;
}

ProfileRow makeRow(const std::string& phase, ProfileLevel level, const std::string& name, const std::string& type) {
    ProfileRow row;
    row.phase = phase;
    row.level = std::string(toString(level));
    row.name = name;
    row.type = type;
    return row;
}

/// unattributed, total and an empty tax, as they close every phase.
void appendClosingRows(std::vector<ProfileRow>& rows, const std::string& phase, ProfileLevel level, const GraphProfile& graph, const GpuSum& unattributed,
                       const GpuSum& total) {
    ProfileRow rest = makeRow(phase, level, "unattributed", "unattributed");
    rest.kernels = unattributed.kernels;
    rest.gpuUs = unattributed.us;
    rest.kernelUs = unattributed.kernelUs;
    fillShare(rest, unattributed, total);
    rows.push_back(std::move(rest));
    ProfileRow whole = makeRow(phase, level, "total", "total");
    whole.calls = 1;
    fillTotal(whole, graph, total);
    whole.note = noteOf(graph);
    rows.push_back(std::move(whole));
    rows.push_back(makeRow(phase, level, "profiler tax", "profiler tax"));
}

}  // namespace

void addGpuColumns(std::vector<ProfileRow>& rows, const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    const RowGroups groups = makeRowGroups(modules, level);
    const Sums sums = sumByGroup(graph, modules, level, groups);
    std::map<std::string, std::size_t> byName;
    for (std::size_t group = 0; group < groups.groups.size(); ++group) byName.emplace(groups.groups[group].name, group);
    for (ProfileRow& row : rows) {
        if (row.name == "total") {
            fillTotal(row, graph, sums.total);
            row.note = joined(row.note, noteOf(graph));
        } else if (row.name == "unattributed") {
            fillKernels(row, graph, sums.unattributed);
            row.gpuUs = sums.unattributed.us;
            fillShare(row, sums.unattributed, sums.total);
        } else if (const auto found = byName.find(row.name); found != byName.end()) {
            const GpuSum& inclusive = groups.groups[found->second].selfOnly ? sums.self[found->second] : sums.inclusive[found->second];
            fillKernels(row, graph, inclusive);
            if (row.spanUs) row.gpuUs = inclusive.us;
            fillShare(row, sums.self[found->second], sums.total);
        }
        if (row.spanUs && row.gpuUs) row.gapUs = *row.spanUs - *row.gpuUs;
    }
}

std::vector<ProfileRow> graphModeRows(const std::string& phase, const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    const RowGroups groups = makeRowGroups(modules, level);
    const Sums sums = sumByGroup(graph, modules, level, groups);
    std::vector<std::int64_t> calls(groups.groups.size(), 0);
    for (int group : groups.groupOf) {
        if (group >= 0) ++calls[static_cast<std::size_t>(group)];
    }
    std::vector<ProfileRow> rows;
    for (std::size_t group = 0; group < groups.groups.size(); ++group) {
        if (sums.inclusive[group].replaysUs.empty()) continue;  // fused away by a patch
        ProfileRow row = makeRow(phase, level, groups.groups[group].name, groups.groups[group].type);
        row.calls = calls[group];
        row.kernels = sums.inclusive[group].kernels;
        if (!groups.groups[group].selfOnly) row.gpuUs = sums.inclusive[group].us;
        row.kernelUs = sums.inclusive[group].kernelUs;
        fillShare(row, sums.self[group], sums.total);
        rows.push_back(std::move(row));
    }
    appendClosingRows(rows, phase, level, graph, sums.unattributed, sums.total);
    for (ProfileRow& row : rows) {
        if (row.name == "profiler tax") continue;
        row.spanUs = row.gpuUs;
        row.selfSpanUs = row.selfGpuUs;
        row.spanSharePct = row.gpuSharePct;
        row.spanShareCiLowPct = row.gpuShareCiLowPct;
        row.spanShareCiHighPct = row.gpuShareCiHighPct;
        if (row.gpuUs) row.gapUs = 0.0;
    }
    return rows;
}

std::vector<SampleRow> graphModeSamples(const std::string& phase, const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    const RowGroups groups = makeRowGroups(modules, level);
    const Sums sums = sumByGroup(graph, modules, level, groups);
    std::vector<SampleRow> samples;
    const auto append = [&](const std::string& name, const char* metric, const std::vector<double>& replaysUs) {
        for (std::size_t replay = 0; replay < replaysUs.size(); ++replay)
            samples.push_back({fmt::format("{}/{}/{}", phase, toString(level), name), metric, static_cast<std::int64_t>(replay), replaysUs[replay]});
    };
    for (std::size_t group = 0; group < groups.groups.size(); ++group) append(groups.groups[group].name, "self_span_us", sums.self[group].replaysUs);
    append("unattributed", "self_span_us", sums.unattributed.replaysUs);
    append("total", "span_us", graph.plainReplaysUs);
    return samples;
}

std::vector<ProfileRow> kernelRows(const std::string& phase, const GraphProfile& graph, const std::vector<ModuleInfo>& modules) {
    GpuSum total, none;
    for (const GraphNode& node : graph.nodes) total.add(node);
    std::vector<ProfileRow> rows;
    for (const GraphNode& node : graph.nodes) {
        const int timed = timedAround(node.module, modules, ProfileLevel::kernel);
        const std::string type = timed < 0 ? "unattributed" : std::string(toString(modules[static_cast<std::size_t>(timed)].type));
        ProfileRow row = makeRow(phase, ProfileLevel::kernel, node.name, type);
        GpuSum self;
        self.add(node);
        row.calls = 1;
        row.kernels = self.kernels;
        row.gpuUs = node.backToBackUs;
        row.kernelUs = node.kernelUs;
        row.selfGpuUs = node.backToBackUs;
        row.gpuSharePct = 100.0 * node.backToBackUs / total.us;
        row.note = node.module < 0 ? std::string() : modules[static_cast<std::size_t>(node.module)].path;
        rows.push_back(std::move(row));
    }
    appendClosingRows(rows, phase, ProfileLevel::kernel, graph, none, total);
    return rows;
}

std::vector<double> selfGpuByModule(const GraphProfile& graph, std::size_t modules) {
    std::vector<double> sums(modules, 0.0);
    for (const GraphNode& node : graph.nodes) {
        if (node.module >= 0) sums[static_cast<std::size_t>(node.module)] += node.backToBackUs;
    }
    return sums;
}

}  // namespace kernelscope
