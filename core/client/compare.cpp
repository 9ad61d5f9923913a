#include "core/client/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "core/client/compare_figures.h"
#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"
#include "core/records/statistics.h"

namespace kernelscope {

using nlohmann::json;

namespace {

/// Nobody acts on less than 1 %.
constexpr double kSame = 0.01;
/// Fewer samples say nothing about a median's interval.
constexpr std::size_t kFewestSamples = 5;

std::string textOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? std::string() : found->is_string() ? found->get<std::string>() : dumpJson(*found);
}

std::string percent(double part) { return fmt::format("{:g} %", std::round(1000 * part) / 10); }

/// `least`: what one run on each side cannot tell; 0 where the interval holds what processes differ by.
std::string verdictOf(const Interval& interval, double least, std::string& reason) {
    const double margin = std::max(kSame, least);
    if (interval.low >= 1 / (1 + margin) && interval.high <= 1 + margin) {
        if (least > 0) reason = "within the " + percent(least) + " that one run each cannot tell";
        return "same";
    }
    if (interval.low > 1 + least) return "faster";
    if (interval.high < 1 / (1 + least)) return "slower";
    if (least > 0) reason = "one run each cannot tell differences under " + percent(least) + "; repeat both and compare A,B,C with D,E,F";
    else reason = fmt::format("the interval {} to {} holds 1", formatRatio(interval.low), formatRatio(interval.high));
    return "cant_tell";
}

/// The interval of the ratio, from samples where both sides have them, else from the rows' own intervals.
std::optional<Interval> ratioInterval(const Figure& baseline, const Figure& candidate) {
    if (!baseline.runs.empty() || !candidate.runs.empty()) {
        const std::vector<double> before = baseline.runs.empty() ? std::vector{baseline.value} : baseline.runs, after = candidate.runs.empty() ? std::vector{candidate.value} : candidate.runs;
        const Interval interval = baseline.higherIsBetter ? ratioOfRuns(after, before) : ratioOfRuns(before, after);
        return std::isfinite(interval.low) && std::isfinite(interval.high) ? std::optional(interval) : std::nullopt;
    }
    if (baseline.samples.size() >= kFewestSamples && candidate.samples.size() >= kFewestSamples) {
        // Independent: pass 3 of one run has nothing to do with pass 3 of another.
        const Interval interval = baseline.higherIsBetter ? bootstrapRatioOfMedians(candidate.samples, baseline.samples)
                                                          : bootstrapRatioOfMedians(baseline.samples, candidate.samples);
        if (std::isfinite(interval.low) && std::isfinite(interval.high)) return interval;
    }
    if (baseline.interval && candidate.interval && baseline.interval->low > 0 && candidate.interval->low > 0 && !baseline.higherIsBetter)
        return Interval{baseline.interval->low / candidate.interval->high, baseline.interval->high / candidate.interval->low};
    return std::nullopt;
}

std::string whyNoInterval(const Figure& baseline, const Figure& candidate) {
    const std::size_t fewest = std::min(baseline.samples.size(), candidate.samples.size()), most = std::max(baseline.samples.size(), candidate.samples.size());
    if (most == 0) return "no samples and no intervals: one figure against another";
    if (fewest == most) return fmt::format("{} sample{} on each side; an interval needs {} or more", most, most == 1 ? "" : "s", kFewestSamples);
    return fmt::format("{} samples in the baseline and {} in the candidate; an interval needs {} or more in each", baseline.samples.size(), candidate.samples.size(), kFewestSamples);
}

CompareRow compared(const RunHeader& baselineRun, const RunHeader& candidateRun, const Figure& baseline, const Figure& candidate, const std::string& notComparable) {
    CompareRow row{candidateRun.kind, baseline.key, baseline.metric, baseline.unit, baseline.value, candidate.value, candidateRun.id};
    if (!(baseline.value > 0) || !(candidate.value > 0) || std::isinf(baseline.value) || std::isinf(candidate.value)) {
        row.verdict = "cant_tell";
        row.reason = "no positive figures on both sides";
        return row;
    }
    row.ratio = baseline.higherIsBetter ? candidate.value / baseline.value : baseline.value / candidate.value;
    if (baseline.runs.empty() && candidate.runs.empty()) row.leastDifference = leastDifference(baselineRun, baseline);
    if (const auto interval = ratioInterval(baseline, candidate)) {
        row.ratioCiLow = interval->low;
        row.ratioCiHigh = interval->high;
        row.verdict = verdictOf(*interval, row.leastDifference, row.reason);
    } else if (row.leastDifference > 0 && isGpuAlone(baselineRun, baseline)) {
        const double least = row.leastDifference, ratio = *row.ratio;
        row.verdict = ratio > 1 + least ? "faster" : ratio < 1 / (1 + least) ? "slower" : "same";
        row.reason = row.verdict == "same" ? "within the " + percent(least) + " that one run each cannot tell"
                                           : "more than the " + percent(least) + " by which such times are known to differ between runs";
    } else {
        row.verdict = "cant_tell";
        row.reason = whyNoInterval(baseline, candidate);
    }
    if (!notComparable.empty()) {
        row.verdict = "cant_tell";
        row.reason = notComparable;
    }
    return row;
}

CompareRow unmatched(const RunHeader& candidateRun, const Figure& figure, bool inBaseline) {
    CompareRow row{candidateRun.kind, figure.key, figure.metric, figure.unit};
    (inBaseline ? row.baseline : row.candidate) = figure.value;
    row.candidateRun = candidateRun.id;
    row.verdict = "unmatched";
    row.reason = inBaseline ? "only in the baseline" : "only in the candidate";
    return row;
}

void compareTwo(const RunHeader& baselineRun, const RunHeader& candidateRun, const std::vector<Figure>& baseline, const std::vector<Figure>& candidate, const std::string& notComparable,
                std::vector<CompareRow>& rows) {
    std::map<std::pair<std::string, std::string>, const Figure*> there;
    for (const Figure& figure : candidate) there.emplace(std::pair(figure.key, figure.metric), &figure);
    for (const Figure& figure : baseline) {
        const auto found = there.find({figure.key, figure.metric});
        if (found == there.end()) {
            rows.push_back(unmatched(candidateRun, figure, true));
            continue;
        }
        rows.push_back(compared(baselineRun, candidateRun, figure, *found->second, notComparable));
        there.erase(found);
    }
    for (const Figure& figure : candidate)
        if (there.contains({figure.key, figure.metric})) rows.push_back(unmatched(candidateRun, figure, false));
}

}  // namespace

std::string whyNotComparable(const RunHeader& baseline, const RunHeader& candidate) {
    const auto differ = [](const std::string& what, const std::string& a, const std::string& b) { return "different " + what + ": " + a + " and " + b; };
    if (baseline.device != candidate.device) return differ("devices", baseline.device, candidate.device);
    if (baseline.dtype != candidate.dtype && baseline.kind != "sweep") return differ("types", baseline.dtype, candidate.dtype);
    if (baseline.model != candidate.model && baseline.kind != "sweep") return differ("models", baseline.model, candidate.model);
    for (const char* key : {"tf32", "cpu_threads", "sm_clock_max_mhz", "memory_clock_max_mhz"}) {
        const std::string a = textOf(baseline.environment, key), b = textOf(candidate.environment, key);
        if (!a.empty() && !b.empty() && a != b) return differ(key, a, b);
    }
    for (const char* key : {"prompt_tokens", "batch", "new_tokens"}) {
        const std::string a = textOf(baseline.settings, key), b = textOf(candidate.settings, key);
        if (!a.empty() && !b.empty() && a != b) return differ(key, a, b);
    }
    return {};
}

namespace {

struct Side {
    RunSummary summary;
    std::vector<Figure> figures;
};

/// One run, or several of one measurement with commas between.
Result<Side> readSide(const Store& store, const std::string& ids, std::vector<std::string>& notes) {
    std::vector<RunSummary> runs;
    std::vector<std::vector<Figure>> figures;
    for (std::size_t begin = 0; begin <= ids.size();) {
        const std::size_t end = std::min(ids.find(',', begin), ids.size());
        auto run = store.run(ids.substr(begin, end - begin));
        if (!run) return run.error();
        begin = end + 1;
        const RunHeader& header = run->header;
        for (const RunSummary& other : runs) {
            if (other.header.id == header.id) return makeError(ErrorCode::badInput, "run " + header.id + " stands twice in " + ids);
            std::string why = other.header.kind != header.kind ? "different kinds" : whyNotComparable(other.header, header);
            if (why.empty() && other.header.settings != header.settings) why = "different settings";
            if (!why.empty()) return makeError(ErrorCode::badInput, "runs " + other.header.id + " and " + header.id + " are no repeats of one measurement: " + why, "put between commas what one command has measured several times");
        }
        auto found = figuresOf(store, header);
        if (!found) return found.error();
        if (header.status != RunStatus::done) notes.push_back("run " + header.id + " is " + std::string(toString(header.status)) + ": what it holds is compared");
        figures.push_back(std::move(*found));
        runs.push_back(std::move(*run));
    }
    Side side{runs.front(), runs.size() == 1 ? std::move(figures.front()) : pooled(figures)};
    for (std::size_t i = 1; i < runs.size(); ++i) side.summary.header.id += "," + runs[i].header.id;
    return side;
}

}  // namespace

Result<Comparison> compareRuns(const Store& store, std::span<const std::string> ids) {
    if (ids.size() < 2) return makeError(ErrorCode::usage, "compare needs two runs or more", "`runs list` shows what there is");
    Comparison comparison;
    std::vector<std::vector<Figure>> figures;
    for (const std::string& id : ids) {
        auto side = readSide(store, id, comparison.notes);
        if (!side) return side.error();
        const RunHeader& header = side->summary.header;
        if (!comparison.runs.empty() && header.kind != comparison.runs.front().header.kind)
            return makeError(ErrorCode::badInput, "run " + header.id + " is a " + header.kind + ", " + comparison.runs.front().header.id + " a " +
                                                      comparison.runs.front().header.kind, "compare runs of one kind");
        figures.push_back(std::move(side->figures));
        comparison.runs.push_back(std::move(side->summary));
    }
    const RunHeader& baseline = comparison.runs.front().header;
    for (std::size_t i = 1; i < comparison.runs.size(); ++i) {
        const RunHeader& candidate = comparison.runs[i].header;
        const std::string why = whyNotComparable(baseline, candidate);
        if (!why.empty()) comparison.notes.push_back(baseline.id + " and " + candidate.id + ": no winner is called: " + why);
        if (const std::string a = textOf(baseline.settings, "level"), b = textOf(candidate.settings, "level"); !a.empty() && !b.empty() && a != b)
            comparison.notes.push_back(fmt::format("{} and {}: their levels, {} and {}, have no rows in common; profile both at one", baseline.id, candidate.id, a, b));
        for (const char* key : {"sm_clock_mhz", "memory_clock_mhz"}) {
            // Read before the work began, so a figure to mention, not one to judge by.
            const auto a = baseline.environment.find(key), b = candidate.environment.find(key);
            if (a == baseline.environment.end() || b == candidate.environment.end()) continue;
            const auto x = numberOf(*a), y = numberOf(*b);
            if (x && y && std::abs(*x - *y) > 0.05 * std::max(*x, *y))
                comparison.notes.push_back(fmt::format("{} and {}: {} was {} and {} at the start", baseline.id, candidate.id, key, *x, *y));
        }
        compareTwo(baseline, candidate, figures[0], figures[i], why, comparison.rows);
    }
    return comparison;
}

std::string verdictCounts(const Comparison& comparison) {
    std::string text = fmt::format("{} row{}", comparison.rows.size(), comparison.rows.size() == 1 ? "" : "s");
    const char* before = ": ";
    for (const auto& [verdict, words] : {std::pair{"faster", "faster"}, {"slower", "slower"}, {"same", "the same"}, {"cant_tell", "cannot tell"}, {"unmatched", "on one side only"}}) {
        const auto count = std::count_if(comparison.rows.begin(), comparison.rows.end(), [verdict = verdict](const CompareRow& row) { return row.verdict == verdict; });
        if (count == 0) continue;
        text += fmt::format("{}{} {}", before, count, words);
        before = ", ";
    }
    return text;
}

Judgement judgeRegression(const Comparison& comparison, double percent) {
    bool judged = false, unsure = false, regressed = false;
    for (const CompareRow& row : comparison.rows) {
        if (!standsForTheWhole(row.kind, row.key, row.metric) || row.verdict == "unmatched") continue;
        judged = true;
        // Slower by more than `percent`: ratio below this.
        const double bound = 1 / (1 + percent / 100);
        if (row.verdict == "slower" && row.ratio && *row.ratio < bound) regressed = true;
        else if (row.verdict == "same" && row.leastDifference > percent / 100) unsure = true;
        else if (row.verdict == "cant_tell" && (row.leastDifference > percent / 100 || !row.ratioCiLow || *row.ratioCiLow < bound || row.reason.starts_with("different"))) unsure = true;
    }
    if (!judged || unsure) return Judgement::cantTell;
    return regressed ? Judgement::regression : Judgement::fine;
}

}  // namespace kernelscope
