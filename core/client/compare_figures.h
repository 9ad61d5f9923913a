#pragma once
// The figures of a run that can be held against another run's.

#include <optional>
#include <string>
#include <vector>

#include "core/client/store.h"
#include "core/records/statistics.h"

namespace kernelscope {

struct Figure {
    std::string key, metric, unit;
    double value = 0;
    bool higherIsBetter = false;
    std::vector<double> samples;       ///< raw, where the run kept them
    std::optional<Interval> interval;  ///< the row's own, where it has one
    std::vector<double> runs;          ///< one value a run, where several runs of one measurement stand together
};

/// In the order of the run's rows. Errors: badInput for kinds that measure no time.
Result<std::vector<Figure>> figuresOf(const Store& store, const RunHeader& header);
/// Several runs of one measurement as one: the figures that two or more of them have, each the median of its runs.
std::vector<Figure> pooled(const std::vector<std::vector<Figure>>& runs);

/// By how much (0.05: 5 %) this figure differs between two processes that measure the same thing, which no interval from
/// within one process knows: what one run on each side cannot tell.
double leastDifference(const RunHeader& header, const Figure& figure);
/// A time of the GPU alone, itself made of medians over replays: leastDifference() then holds what one process varies by too.
bool isGpuAlone(const RunHeader& header, const Figure& figure);

/// Rows by which a run as a whole is judged; parts may move against each other.
bool standsForTheWhole(const std::string& kind, const std::string& key, const std::string& metric);

}  // namespace kernelscope
