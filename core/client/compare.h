#pragma once
// Two or more runs side by side: rows matched by key, figures as ratios with intervals, a verdict and its reason.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/client/store.h"
#include "core/records/row.h"

namespace kernelscope {

struct CompareRow {
    std::string kind;    ///< of the runs
    std::string key;     ///< of the rows: `decode|type|Attention`
    std::string metric;  ///< the column
    std::string unit;
    std::optional<double> baseline, candidate;
    std::string candidateRun;
    std::optional<double> ratio;  ///< baseline / candidate for times (candidate / baseline for rates): above 1 is faster
    std::optional<double> ratioCiLow, ratioCiHigh;  ///< 95 %
    std::string verdict;  ///< faster, slower, same, cant_tell, unmatched
    std::string reason;
    double leastDifference = 0;  ///< one run on each side cannot tell smaller ones (0.05: 5 %); 0 where repeats show what processes differ by

    bool operator==(const CompareRow&) const = default;
};

template <>
struct RowSchema<CompareRow> {
    static constexpr std::string_view kName = "compare";
    static constexpr auto kFields = std::tuple{
        field("kind", &CompareRow::kind),
        field("key", &CompareRow::key),
        field("metric", &CompareRow::metric),
        field("unit", &CompareRow::unit),
        field("baseline", &CompareRow::baseline),
        field("candidate", &CompareRow::candidate),
        field("candidate_run", &CompareRow::candidateRun),
        field("ratio", &CompareRow::ratio),
        field("ratio_ci_low", &CompareRow::ratioCiLow),
        field("ratio_ci_high", &CompareRow::ratioCiHigh),
        field("verdict", &CompareRow::verdict),
        field("reason", &CompareRow::reason),
    };
};

struct Comparison {
    std::vector<RunSummary> runs;   ///< the baseline first; of several that stand together the first, with all their ids
    std::vector<CompareRow> rows;
    std::vector<std::string> notes; ///< what a reader must know: interrupted runs, other devices, other clocks
};

/// The first is the baseline. Each is a run, or several runs of one measurement with commas between ("a,b,c"): their intervals hold
/// what differs from one process to the next. One run on each side tells only differences larger than that is known to be.
/// Errors: badInput (unknown run, runs of different kinds or settings, a kind without figures), usage (fewer than two).
Result<Comparison> compareRuns(const Store& store, std::span<const std::string> ids);

/// What makes two runs' times not comparable, in words; empty when a winner may be called.
std::string whyNotComparable(const RunHeader& baseline, const RunHeader& candidate);

/// "12 rows: 3 faster, 1 slower, 6 the same, 2 cannot tell"
std::string verdictCounts(const Comparison& comparison);

enum class Judgement { fine, regression, cantTell };
/// Has any candidate become slower by more than `percent`? Judged are the rows that stand for a whole: totals of a
/// profile, cells of a sweep, total times end to end. cantTell where nothing matched, or an interval leaves room for it.
Judgement judgeRegression(const Comparison& comparison, double percent);

}  // namespace kernelscope
