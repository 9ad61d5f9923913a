#pragma once
// From the runs of generate() to the rows that compare them: medians, percentiles, speed-ups with intervals, the tokens.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/records/kernel_rows.h"
#include "core/records/rows.h"

namespace kernelscope {

/// One timed call of generate().
struct GenerateRun {
    double ttftMs = 0;
    double totalMs = 0;
    double outsideForwardMs = 0;
    std::vector<double> stepMs;  ///< each decode step
};

/// All timed calls of one configuration, in order: run i of every configuration belongs to the same round.
struct GenerateSeries {
    std::string configuration;  ///< native or patched
    std::string mode;           ///< eager or graph
    std::vector<GenerateRun> runs;
    std::vector<std::int64_t> tokenIds;  ///< greedy, of the first timed run
};

struct EndToEndShape {
    std::int64_t promptTokens = 32, batch = 1;
};

/// `native`: the same mode without the patch (the series itself for a native row). `nativeEager`: null where eager was not asked for.
/// `status` is the row's. Speed-ups come from the rounds that both sides have ended.
EndToEndRow endToEndRow(const GenerateSeries& series, const GenerateSeries& native, const GenerateSeries* nativeEager, const EndToEndShape& shape,
                        const std::string& status);

/// Key of a configuration's row in its run, as core/records/row_key.h makes it: "native|eager".
std::string endToEndKey(const GenerateSeries& series);

/// Every run's figures, keyed by the row; decode steps one by one.
std::vector<SampleRow> endToEndSamples(const GenerateSeries& series);

/// Index of the first generated token in which the two differ, one being longer included.
std::optional<std::int64_t> firstDivergence(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

/// How far apart the two tokens are in `logits`, those of the native model where both texts are still the same: 0 is a tie.
double logitGap(std::span<const float> logits, std::int64_t nativeId, std::int64_t otherId);

}  // namespace kernelscope
