#pragma once
// From samples to the figures of a sweep's rows: intervals, ratios, verdicts, and how near a kernel is to what the device can do.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measure/timing.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

struct Verdict {
    std::string word;  ///< faster, slower, same, cant_tell
    std::string reason;
};

/// Of a speed-up and its interval. Nothing is claimed when the interval holds 1.
Verdict verdictOf(double speedup, const Interval& interval);

/// All that a cell's rows are made of, for one contender.
struct CellFigures {
    std::span<const double> deviceUs;
    double callUs = 0;
    Work work;
    DeviceLimits limits;
    bool programmatic = false;
    CacheMode mode = CacheMode::cold;
    bool onCpu = false;
    bool throttled = false;  ///< for half of the samples or more
};

/// Fills device time, interval, rate and share of the limit; status becomes noisy or throttled where that is so, and a time that beats
/// the device's own limit is an alarm in the reason.
void describeTimes(const CellFigures& figures, SweepRow& row);

/// Speed-ups and verdict against the baseline of the same rounds. `baseline` may be the row itself.
void compareWithBaseline(std::span<const double> baselineUs, const SweepRow& baseline, std::span<const double> us, SweepRow& row);

}  // namespace kernelscope
