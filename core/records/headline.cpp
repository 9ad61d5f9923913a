#include "core/records/headline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "core/records/format.h"
#include "core/records/verdict.h"

namespace kernelscope {

namespace {

constexpr std::string_view kTotal = "total";
constexpr std::string_view kTax = "profiler tax";
constexpr std::string_view kSeparator = " · ";

double percentOf(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

struct TypeSum {
    std::string name;
    double span = 0;
    double gpu = 0;
    double sharePct = 0;  ///< of the spans; the table's own figure where it is known
};

bool isWholeLayer(const ProfileRow& row) { return row.level == "block" && row.type.empty(); }

std::vector<TypeSum> sumsByType(std::span<const ProfileRow> rows, std::string_view phase, double totalSpan) {
    // Layers by the dozen say little one by one.
    const auto layers = std::count_if(rows.begin(), rows.end(), [&](const ProfileRow& row) { return row.phase == phase && isWholeLayer(row); });
    const std::string layersName = fmt::format("{} layer{}", layers, layers == 1 ? "" : "s");
    std::vector<TypeSum> sums;
    for (const ProfileRow& row : rows) {
        if (row.phase != phase || row.name == kTotal || row.name == kTax) continue;
        const std::string& name = isWholeLayer(row) ? layersName : row.type.empty() ? row.name : row.type;
        auto found = std::find_if(sums.begin(), sums.end(), [&](const TypeSum& sum) { return sum.name == name; });
        if (found == sums.end()) found = sums.insert(sums.end(), TypeSum{name});
        // Level kernel has no self times: nothing nests in a kernel, so its own time is its self time.
        found->span += row.selfSpanUs.value_or(0);
        // Medians of a few noisy passes need not add up; the shares, made from sums over passes, do.
        found->sharePct += row.spanSharePct.value_or(percentOf(row.selfSpanUs.value_or(0), totalSpan));
        found->gpu += row.selfGpuUs.value_or(row.gpuUs.value_or(0));
    }
    return sums;
}

/// "Attention 48 %, then MLP 20 %"
template <typename Figure>
std::string largest(std::vector<TypeSum> sums, double whole, Figure figure) {
    std::erase_if(sums, [&](const TypeSum& sum) { return sum.name == "unattributed" || !(figure(sum) > 0); });
    std::stable_sort(sums.begin(), sums.end(), [&](const TypeSum& a, const TypeSum& b) { return figure(a) > figure(b); });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, sums.size()); ++i)
        text += fmt::format("{}{} {}", i ? ", then " : "", sums[i].name, formatPercent(percentOf(figure(sums[i]), whole), 0));
    return text;
}

/// "memory-bound (its bytes take 240 µs at the copy rate)"
std::string boundWords(Bound bound, const PassWork* work) {
    std::string text(toString(bound));
    if (bound == Bound::memory || bound == Bound::latency) text += fmt::format(" (its bytes take {} at the copy rate)", formatMicroseconds(work->memoryUs()));
    if (bound == Bound::compute) text += fmt::format(" (its operations take {} at the matmul rate)", formatMicroseconds(work->computeUs()));
    return text;
}

}  // namespace

std::string phaseHeadline(std::span<const ProfileRow> rows, std::string_view phase, const nlohmann::json& result) {
    const ProfileRow* total = nullptr;
    const ProfileRow* tax = nullptr;
    for (const ProfileRow& row : rows) {
        if (row.phase != phase) continue;
        if (row.name == kTotal) total = &row;
        if (row.name == kTax) tax = &row;
    }
    if (!total || !(total->spanUs || total->gpuUs)) return {};

    const bool decode = phase == "decode";
    const double gpu = total->gpuUs.value_or(0);
    const double span = total->spanUs.value_or(gpu);
    const auto sums = sumsByType(rows, phase, span);
    const double plain = span - (tax ? tax->spanUs.value_or(0) : 0);
    std::string text = fmt::format("{} {}{}", decode ? "Decode" : "Prefill", formatMicroseconds(plain), decode ? " a token" : "");
    const auto add = [&](const std::string& part) {
        if (!part.empty()) text.append(kSeparator).append(part);
    };

    const std::optional<PassWork> work = passWorkOf(result, phase);
    const double gap = total->gapUs.value_or(span - gpu);
    const Bound bound = boundOf(total->gpuUs ? span : plain, total->gpuUs, total->spanUs ? gap : 0, work ? &*work : nullptr);
    if (!total->gpuUs) {
        add(boundWords(bound, work ? &*work : nullptr));
        add(largest(sums, 100, [](const TypeSum& sum) { return sum.sharePct; }));
        return text;
    }
    if (total->spanUs) add(fmt::format("GPU busy {} ({})", formatMicroseconds(gpu), formatPercent(percentOf(gpu, plain), 0)));
    add(boundWords(bound, work ? &*work : nullptr));
    if (bound == Bound::launch) {
        const auto wait = [](const TypeSum& sum) { return sum.span - sum.gpu; };
        const TypeSum* most = nullptr;
        for (const TypeSum& sum : sums)
            if (sum.name != "unattributed" && (!most || wait(sum) > wait(*most))) most = &sum;
        if (most && wait(*most) > 0)
            add(fmt::format("{} {} {} of the gaps", most->name, most->name.ends_with("layers") ? "are" : "is", formatPercent(percentOf(wait(*most), gap), 0)));
    } else {
        const std::string parts = largest(sums, gpu, [](const TypeSum& sum) { return sum.gpu; });
        if (!parts.empty()) add(parts + " of the GPU's time");
    }
    return text;
}

std::string profileHeadline(std::span<const ProfileRow> rows, const nlohmann::json& result) {
    std::string text = phaseHeadline(rows, "prefill", result);
    const std::string decode = phaseHeadline(rows, "decode", result);
    if (!text.empty() && !decode.empty()) text += ". ";
    return text + decode;
}

std::string validateHeadline(std::span<const ValidateRow> rows) {
    std::map<std::string, std::int64_t> counts;
    for (const ValidateRow& row : rows) ++counts[row.status];
    std::string text = formatCount(static_cast<std::int64_t>(rows.size())) + (rows.size() == 1 ? " check" : " checks");
    std::string separator = ": ";
    for (const auto& [status, count] : counts) {
        text += fmt::format("{}{} {}", separator, formatCount(count), status == "other_order" ? "in another order" : status);
        separator = ", ";
    }
    return text;
}

std::string sweepHeadline(std::span<const SweepRow> rows, std::string_view baseline) {
    struct Mean {
        double logs = 0;
        int cells = 0;
    };
    std::map<std::string, Mean> means;
    std::map<std::string, std::int64_t> failures;
    for (const SweepRow& row : rows)
        for (const std::string_view status : {"wrong", "crashed", "hung", "skipped"})
            if (row.status == status) ++failures[row.status];
    for (const SweepRow& row : rows) {
        if (!row.speedup || !(*row.speedup > 0) || row.variant == baseline) continue;
        Mean& mean = means[row.variant];
        if (row.verdict == "cant_tell") continue;  // noise, and times that no device reaches, claim nothing
        mean.logs += std::log(*row.speedup);
        ++mean.cells;
    }
    std::string text = formatCount(static_cast<std::int64_t>(rows.size())) + (rows.size() == 1 ? " cell" : " cells");
    std::string separator = " (";
    for (const auto& [status, count] : failures) {
        text += fmt::format("{}{} {}", separator, formatCount(count), status);
        separator = ", ";
    }
    if (!failures.empty()) text += ")";
    separator = fmt::format(", against {}: ", baseline);
    for (const auto& [variant, mean] : means) {
        text += fmt::format("{}{} {}", separator, variant, mean.cells ? formatRatio(std::exp(mean.logs / mean.cells)) : "can't tell");
        separator = ", ";
    }
    return means.empty() ? text : text + " (geometric mean)";
}

}  // namespace kernelscope
