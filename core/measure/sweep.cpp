#include "core/measure/sweep.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kernelscope {
namespace {

// Below this neither side is called the winner, however narrow the interval: where buffers happen to lie makes as much.
constexpr double kSameBand = 0.01;
// A median that is known no better than this is noise to work with.
constexpr double kNoisyWidth = 0.05;
// What a copy reaches is no hard limit (a read needs less than a write); beyond this it is a mistake of the measurement.
constexpr double kImpossiblePct = 110;
// A CPU's caches write back when they like, so that a short cell leaves part of its writes to others.
constexpr double kImpossiblePctCpu = 200;

void append(std::string& reason, const std::string& more) { reason += (reason.empty() ? "" : "; ") + more; }

}  // namespace

Verdict verdictOf(double speedup, const Interval& interval) {
    if (!std::isfinite(speedup) || !std::isfinite(interval.low) || !std::isfinite(interval.high)) return {"cant_tell", "there are too few samples"};
    if (interval.low >= 1 / (1 + kSameBand) && interval.high <= 1 + kSameBand) return {"same", {}};
    if (interval.low > 1) return {"faster", {}};
    if (interval.high < 1) return {"slower", {}};
    return {"cant_tell", fmt::format("the interval of the speed-up, {:.3f} to {:.3f}, holds 1", interval.low, interval.high)};
}

void describeTimes(const CellFigures& figures, SweepRow& row) {
    const double us = median(figures.deviceUs);
    const Interval interval = bootstrapMedian(figures.deviceUs);
    row.deviceUs = us;
    row.deviceCiLowUs = interval.low;
    row.deviceCiHighUs = interval.high;
    if (figures.callUs > 0) row.callUs = figures.callUs;
    row.gbPerS = figures.work.bytes / us / 1e3;
    const double byBytes = figures.limits.copyBytesPerSecond > 0 ? 1e6 * figures.work.bytes / figures.limits.copyBytesPerSecond : 0;
    const double floor = figures.programmatic && figures.limits.programmaticFloorUs > 0 ? figures.limits.programmaticFloorUs : figures.limits.launchFloorUs;
    const double limit = std::max(byBytes, floor);
    if (limit > 0) row.limitPct = 100 * limit / us;

    if ((interval.high - interval.low) / us > kNoisyWidth) {
        if (row.status == "ok") row.status = "noisy";
        append(row.reason, fmt::format("the median is known to {:.1f} % only", 100 * (interval.high - interval.low) / us));
    }
    if (figures.throttled) {
        row.status = "throttled";
        append(row.reason, "the GPU lowered its clocks for half of the samples or more");
    }
    if (!row.limitPct || *row.limitPct <= (figures.onCpu ? kImpossiblePctCpu : kImpossiblePct)) return;
    const double times = *row.limitPct / 100;
    if (figures.mode == CacheMode::cold) {
        if (row.status == "ok") row.status = "noisy";
        append(row.reason, fmt::format("alarm: {:.1f} times as fast as memory can be, so this is not a cold time", times));
    } else {
        append(row.reason, fmt::format("alarm: {:.1f} times what memory delivers: the data came from a cache; the cold figure is what a model sees", times));
    }
}

void compareWithBaseline(std::span<const double> baselineUs, const SweepRow& baseline, std::span<const double> us, SweepRow& row) {
    if (!baseline.deviceUs || !row.deviceUs) {
        row.verdict = "cant_tell";
        append(row.reason, "the baseline has no time here");
        return;
    }
    row.speedup = *baseline.deviceUs / *row.deviceUs;
    if (baseline.callUs && row.callUs) row.callSpeedup = *baseline.callUs / *row.callUs;
    if (&baseline == &row || baselineUs.data() == us.data()) {
        row.speedupCiLow = row.speedupCiHigh = 1;
        row.verdict = "same";
        return;
    }
    const std::size_t rounds = std::min(baselineUs.size(), us.size());
    const Interval interval = bootstrapPairedRatioOfMedians(baselineUs.first(rounds), us.first(rounds));
    row.speedupCiLow = interval.low;
    row.speedupCiHigh = interval.high;
    const Verdict verdict = verdictOf(*row.speedup, interval);
    row.verdict = verdict.word;
    if (!verdict.reason.empty()) append(row.reason, verdict.reason);
    if (row.reason.find("alarm: ") != std::string::npos && row.cache == "cold") row.verdict = "cant_tell";
}

}  // namespace kernelscope
