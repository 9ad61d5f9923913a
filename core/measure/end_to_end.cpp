#include "core/measure/end_to_end.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/records/format.h"
#include "core/records/row_key.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

// A difference below 1 % is within what one build shows from one start of a process to the next.
constexpr double kSame = 0.01;
// Fewer samples say nothing about the interval of a median.
constexpr std::size_t kFewestRuns = 5;

template <typename Figure>
std::vector<double> figures(const GenerateSeries& series, Figure figure) {
    std::vector<double> values;
    for (const GenerateRun& run : series.runs) values.push_back(figure(run));
    return values;
}

std::vector<double> totals(const GenerateSeries& series) {
    return figures(series, [](const GenerateRun& run) { return run.totalMs; });
}

std::vector<double> steps(const GenerateSeries& series) {
    std::vector<double> values;
    for (const GenerateRun& run : series.runs) values.insert(values.end(), run.stepMs.begin(), run.stepMs.end());
    return values;
}

struct Speedup {
    double ratio = 1;
    Interval interval{1, 1};
    std::size_t rounds = 0;
};

/// Of `series` over `baseline` by total time; nothing before both have a run.
std::optional<Speedup> speedup(const GenerateSeries& baseline, const GenerateSeries& series) {
    std::vector<double> before = totals(baseline), after = totals(series);
    const std::size_t rounds = std::min(before.size(), after.size());
    if (rounds == 0) return std::nullopt;
    before.resize(rounds);
    after.resize(rounds);
    const double ratio = median(before) / median(after);
    if (!(ratio > 0) || !std::isfinite(ratio)) return std::nullopt;
    return Speedup{ratio, bootstrapPairedRatioOfMedians(before, after), rounds};
}

void judge(const Speedup& found, EndToEndRow& row) {
    const Interval& interval = found.interval;
    if (found.rounds < kFewestRuns) {
        row.verdict = "cant_tell";
        row.reason = fmt::format("{} timed run{}: the interval of a median needs at least {}", found.rounds, found.rounds == 1 ? "" : "s", kFewestRuns);
    } else if (interval.low >= 1 / (1 + kSame) && interval.high <= 1 + kSame) {
        row.verdict = "same";
    } else if (interval.low > 1) {
        row.verdict = "faster";
    } else if (interval.high < 1) {
        row.verdict = "slower";
    } else {
        row.verdict = "cant_tell";
        row.reason = fmt::format("the interval {} to {} holds 1", formatRatio(interval.low), formatRatio(interval.high));
    }
}

void fillTimes(const GenerateSeries& series, const EndToEndShape& shape, EndToEndRow& row) {
    const auto batch = static_cast<double>(shape.batch);
    row.ttftMs = median(figures(series, [](const GenerateRun& run) { return run.ttftMs; }));
    row.totalMs = median(totals(series));
    row.outsideForwardMs = median(figures(series, [](const GenerateRun& run) { return run.outsideForwardMs; }));
    if (*row.ttftMs > 0) row.prefillTokensPerS = 1e3 * static_cast<double>(shape.promptTokens) * batch / *row.ttftMs;
    const std::vector<double> decode = steps(series);
    if (decode.empty()) return;  // one new token is the prefill's
    row.decodeMsPerToken = median(decode);
    row.decodeP90Ms = quantile(decode, 0.90);
    row.decodeP99Ms = quantile(decode, 0.99);
    if (*row.decodeMsPerToken > 0) row.decodeTokensPerS = 1e3 * batch / *row.decodeMsPerToken;
}

}  // namespace

EndToEndRow endToEndRow(const GenerateSeries& series, const GenerateSeries& native, const GenerateSeries* nativeEager, const EndToEndShape& shape,
                        const std::string& status) {
    EndToEndRow row;
    row.configuration = series.configuration;
    row.mode = series.mode;
    row.status = status;
    if (series.runs.empty()) return row;
    fillTimes(series, shape, row);
    if (const std::optional<Speedup> found = speedup(native, series)) {
        row.speedup = found->ratio;
        row.speedupCiLow = found->interval.low;
        row.speedupCiHigh = found->interval.high;
        row.removedPct = 100.0 * (1.0 - 1.0 / found->ratio);
        if (&series != &native) judge(*found, row);
    }
    if (&series == &native) {
        row.verdict = "same";
        row.reason = "the baseline of its mode";
    }
    if (nativeEager) {
        if (const std::optional<Speedup> found = speedup(*nativeEager, series)) {
            row.eagerSpeedup = found->ratio;
            row.eagerSpeedupCiLow = found->interval.low;
            row.eagerSpeedupCiHigh = found->interval.high;
        }
    }
    row.firstDivergence = firstDivergence(native.tokenIds, series.tokenIds);
    row.tokensMatch = !row.firstDivergence;
    return row;
}

std::string endToEndKey(const GenerateSeries& series) {
    EndToEndRow row;
    row.configuration = series.configuration;
    row.mode = series.mode;
    return rowKey(rowTypeOf<EndToEndRow>(), valuesOf(row));
}

std::vector<SampleRow> endToEndSamples(const GenerateSeries& series) {
    std::vector<SampleRow> samples;
    const std::string key = endToEndKey(series);
    const auto append = [&](const char* metric, const std::vector<double>& values) {
        std::int64_t pass = 0;
        for (const double value : values) samples.push_back({key, metric, pass++, value});
    };
    append("ttft_ms", figures(series, [](const GenerateRun& run) { return run.ttftMs; }));
    append("total_ms", totals(series));
    append("outside_forward_ms", figures(series, [](const GenerateRun& run) { return run.outsideForwardMs; }));
    append("decode_ms_per_token", steps(series));
    return samples;
}

std::optional<std::int64_t> firstDivergence(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    const std::size_t shared = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < shared; ++i) {
        if (a[i] != b[i]) return static_cast<std::int64_t>(i);
    }
    if (a.size() != b.size()) return static_cast<std::int64_t>(shared);
    return std::nullopt;
}

double logitGap(std::span<const float> logits, std::int64_t nativeId, std::int64_t otherId) {
    return static_cast<double>(logits[static_cast<std::size_t>(nativeId)]) - static_cast<double>(logits[static_cast<std::size_t>(otherId)]);
}

}  // namespace kernelscope
