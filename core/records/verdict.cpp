#include "core/records/verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace kernelscope {
namespace {

constexpr std::string_view kRest = "unattributed", kTotal = "total", kTax = "profiler tax";

// A gain below this drowns in what a pass varies by.
constexpr double kLeastGain = 1.01;
// Points of share by which a median and a ratio of sums may differ before a reader would ask why.
constexpr double kVisiblePoints = 2.0;
// A tax is a few per cent: an interval wider than this says nothing about it.
constexpr double kWidestTaxPoints = 15.0;
constexpr double kLeastTaxPct = -2.0;

struct TypeShare {
    std::string type;
    std::optional<double> span, gpu;  // shares of the whole, 0 to 1
};

const ProfileRow* rowNamed(std::span<const ProfileRow> rows, std::string_view phase, std::string_view name) {
    for (const ProfileRow& row : rows)
        if (row.phase == phase && row.name == name) return &row;
    return nullptr;
}

void add(std::optional<double>& sum, const std::optional<double>& percent) {
    if (percent) sum = sum.value_or(0) + *percent / 100;
}

std::vector<TypeShare> sharesByType(std::span<const ProfileRow> rows, std::string_view phase) {
    std::vector<TypeShare> shares;
    for (const ProfileRow& row : rows) {
        if (row.phase != phase || row.type.empty() || row.type == kRest || row.type == kTotal || row.type == kTax) continue;
        auto found = std::find_if(shares.begin(), shares.end(), [&](const TypeShare& share) { return share.type == row.type; });
        if (found == shares.end()) found = shares.insert(shares.end(), TypeShare{row.type, {}, {}});
        add(found->span, row.spanSharePct);
        add(found->gpu, row.gpuSharePct);
    }
    return shares;
}

double sumOf(const std::vector<PassWork::Type>& types, double PassWork::Type::*figure) {
    double sum = 0;
    for (const PassWork::Type& type : types) sum += type.*figure;
    return sum;
}

double timeUs(double amount, double perSecond) { return perSecond > 0 ? 1e6 * amount / perSecond : 0; }

/// Adds that are fused with the norm are work of the norm.
double leastUs(const PassWork& work, const std::string& type, const std::vector<TypeShare>& shares) {
    double least = work.leastUs(type);
    const bool fused = type == "RMSNorm" && std::none_of(shares.begin(), shares.end(), [](const TypeShare& share) { return share.type == "Residual"; });
    if (fused) least += work.leastUs("Residual");
    return least;
}

}  // namespace

double PassWork::memoryUs() const { return timeUs(sumOf(types, &Type::bytes), copyBytesPerSecond); }
double PassWork::computeUs() const { return timeUs(sumOf(types, &Type::flops), matmulFlopsPerSecond); }

double PassWork::leastUs(std::string_view type) const {
    for (const Type& each : types)
        if (each.name == type) return std::max(timeUs(each.bytes, copyBytesPerSecond), timeUs(each.flops, matmulFlopsPerSecond));
    return 0;
}

std::optional<PassWork> passWorkOf(const nlohmann::json& result, std::string_view phase) {
    const auto number = [](const nlohmann::json& object, const char* key) {
        return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
    };
    const nlohmann::json::json_pointer place("/work/" + std::string(phase));
    if (!result.is_object() || !result.contains("limits") || !result.contains(place) || !result.at(place).is_array()) return std::nullopt;
    PassWork work;
    work.copyBytesPerSecond = 1e9 * number(result["limits"], "copy_gb_per_s");
    work.matmulFlopsPerSecond = 1e12 * number(result["limits"], "matmul_tflops");
    for (const nlohmann::json& type : result.at(place))
        if (type.is_object() && type.contains("type") && type["type"].is_string()) work.types.push_back({type["type"].get<std::string>(), number(type, "bytes"), number(type, "flops")});
    if (work.types.empty() || (work.copyBytesPerSecond <= 0 && work.matmulFlopsPerSecond <= 0)) return std::nullopt;
    return work;
}

void keepWork(nlohmann::json& result, std::string_view phase, const PassWork& work) {
    result["limits"] = {{"copy_gb_per_s", work.copyBytesPerSecond / 1e9}, {"matmul_tflops", work.matmulFlopsPerSecond / 1e12}};
    nlohmann::json types = nlohmann::json::array();
    for (const PassWork::Type& type : work.types) types.push_back({{"type", type.name}, {"bytes", type.bytes}, {"flops", type.flops}});
    result["work"][std::string(phase)] = std::move(types);
}

std::string_view toString(Bound bound) {
    switch (bound) {
        case Bound::unknown: return "";
        case Bound::launch: return "launch-bound";
        case Bound::memory: return "memory-bound";
        case Bound::compute: return "compute-bound";
        case Bound::latency: return "latency-bound";
    }
    return "";
}

Bound boundOf(double totalUs, std::optional<double> gpuUs, double gapUs, const PassWork* work) {
    if (gpuUs && gapUs > totalUs / 2) return Bound::launch;
    if (!work) return Bound::unknown;
    const double busy = gpuUs.value_or(totalUs), memory = work->memoryUs(), compute = work->computeUs();
    if (std::max(memory, compute) < busy / 2) return Bound::latency;
    return memory >= compute ? Bound::memory : Bound::compute;
}

std::vector<BestCase> bestCases(std::span<const ProfileRow> rows, std::string_view phase, const PassWork* work) {
    const ProfileRow* total = rowNamed(rows, phase, kTotal);
    const std::vector<TypeShare> shares = sharesByType(rows, phase);
    const auto gain = [&](const std::optional<double>& share, const std::optional<double>& wholeUs, double least) -> std::optional<double> {
        if (!share) return std::nullopt;
        const double saved = std::max(0.0, *share - (wholeUs && *wholeUs > 0 ? least / *wholeUs : 0));
        return saved < 1 ? std::optional(1 / (1 - saved)) : std::nullopt;  // one type alone: no pass would be left
    };
    std::vector<BestCase> cases;
    for (const TypeShare& share : shares) {
        const double least = work ? leastUs(*work, share.type, shares) : 0;
        cases.push_back({share.type, gain(share.span, total ? total->spanUs : std::nullopt, least), gain(share.gpu, total ? total->gpuUs : std::nullopt, least)});
    }
    const auto larger = [](const BestCase& best) { return best.bySpan.value_or(best.byGpu.value_or(0)); };
    std::stable_sort(cases.begin(), cases.end(), [&](const BestCase& a, const BestCase& b) { return larger(a) > larger(b); });
    return cases;
}

std::string bestCaseSentence(std::span<const ProfileRow> rows, std::string_view phase, const PassWork* work) {
    const ProfileRow* total = rowNamed(rows, phase, kTotal);
    // In a graph both are one.
    const bool same = total && total->spanUs && total->gpuUs && *total->spanUs == *total->gpuUs;
    std::string text;
    for (const BestCase& best : bestCases(rows, phase, work)) {
        if (std::max(best.bySpan.value_or(1), best.byGpu.value_or(1)) < kLeastGain) continue;
        text += fmt::format("{}{}", text.empty() ? "Perfect kernels would buy at most: " : "; ", best.type);
        if (best.bySpan && !same) text += fmt::format(" {:.2f}x{}", *best.bySpan, best.byGpu ? " by span" : "");
        if (best.byGpu) text += fmt::format("{} {:.2f}x by GPU time", best.bySpan && !same ? "," : "", *best.byGpu);
    }
    return text.empty() ? text : text + ".";
}

std::string verdictWords(const std::string& verdict) { return verdict == "cant_tell" ? "cannot tell" : verdict; }

bool canBeTold(const ProfileRow& row, double pct, std::optional<double> lowPct, std::optional<double> highPct) {
    if (row.name == kTax && pct < kLeastTaxPct) return false;
    if (!lowPct || !highPct) return true;
    const double width = *highPct - *lowPct;
    return row.name == kTax ? width <= kWidestTaxPoints : width <= std::max(kWidestTaxPoints, 2 * std::abs(pct));
}

std::string cautionOf(std::span<const ProfileRow> rows, std::string_view phase) {
    const ProfileRow* total = rowNamed(rows, phase, kTotal);
    const ProfileRow* tax = rowNamed(rows, phase, kTax);
    if (!total || !total->spanUs || *total->spanUs <= 0) return {};
    std::string worst;
    double difference = 0;
    for (const ProfileRow& row : rows) {
        if (row.phase != phase || row.name == kTotal || row.name == kTax || !row.selfSpanUs || !row.spanSharePct) continue;
        const double points = std::abs(100 * *row.selfSpanUs / *total->spanUs - *row.spanSharePct);
        if (points <= difference) continue;
        difference = points;
        worst = row.name;
    }
    std::string text;
    if (difference > kVisiblePoints)
        text = fmt::format("times are medians and shares count every pass: for {} they differ by {:.0f} points", worst, difference);
    if (tax && tax->spanSharePct) {
        if (!canBeTold(*tax, *tax->spanSharePct, tax->spanShareCiLowPct, tax->spanShareCiHighPct))
            text += fmt::format("{}plain and instrumented passes vary by more than what they differ by, so the tax is not known", text.empty() ? "" : "; ");
    }
    // What to do comes first: where there is one line only, its end is what is cut.
    return text.empty() ? text : "Noisy run, better repeated on a quiet machine or with more passes: " + text + ".";
}

}  // namespace kernelscope
