// From runs to rows, with made-up runs.

#include <gtest/gtest.h>

#include "core/measure/end_to_end.h"

namespace kernelscope {
namespace {

GenerateSeries series(const std::string& configuration, const std::string& mode, const std::vector<double>& totals) {
    GenerateSeries made{configuration, mode, {}, {5, 6, 7}};
    for (const double total : totals) made.runs.push_back({total / 10, total, total / 100, {total * 0.3, total * 0.3, total * 0.3}});
    return made;
}

EndToEndRow compared(const GenerateSeries& native, const GenerateSeries& patched) { return endToEndRow(patched, native, nullptr, {}, "ok"); }

TEST(EndToEndRow, HoldsMediansPercentilesAndRatesOfItsRuns) {
    GenerateSeries one{"native", "eager", {}, {}};
    for (int run = 0; run < 3; ++run) {
        GenerateRun made{10.0 + run, 200.0 + run, 1.0 + run, {}};
        for (int step = 1; step <= 100; ++step) made.stepMs.push_back(step);
        one.runs.push_back(std::move(made));
    }
    const EndToEndRow row = endToEndRow(one, one, &one, {32, 2}, "ok");
    EXPECT_EQ(row.ttftMs, 11.0);
    EXPECT_EQ(row.totalMs, 201.0);
    EXPECT_EQ(row.outsideForwardMs, 2.0);
    EXPECT_NEAR(*row.prefillTokensPerS, 1000.0 * 32 * 2 / 11, 1e-9);
    EXPECT_NEAR(*row.decodeMsPerToken, 50.5, 1e-9);
    EXPECT_NEAR(*row.decodeP90Ms, 90, 0.5);
    EXPECT_NEAR(*row.decodeP99Ms, 99, 0.5);
    EXPECT_NEAR(*row.decodeTokensPerS, 1000.0 * 2 / 50.5, 1e-9);
    EXPECT_EQ(row.speedup, 1.0);
    EXPECT_EQ(row.eagerSpeedup, 1.0);
    EXPECT_EQ(row.removedPct, 0.0);
    EXPECT_EQ(row.status, "ok");
}

TEST(EndToEndRow, ASingleNewTokenHasNoDecodeFigures) {
    GenerateSeries one{"native", "eager", {{4, 5, 1, {}}}, {1}};
    const EndToEndRow row = endToEndRow(one, one, &one, {}, "ok");
    EXPECT_TRUE(row.ttftMs);
    EXPECT_FALSE(row.decodeMsPerToken || row.decodeP90Ms || row.decodeP99Ms || row.decodeTokensPerS);
}

TEST(EndToEndRow, IsEmptyButNamedBeforeTheFirstRun) {
    const GenerateSeries one{"patched", "graph", {}, {}};
    const EndToEndRow row = endToEndRow(one, one, nullptr, {}, "running");
    EXPECT_EQ(row.configuration, "patched");
    EXPECT_EQ(row.mode, "graph");
    EXPECT_FALSE(row.totalMs || row.speedup || row.tokensMatch);
}

TEST(EndToEndRow, ASpeedUpIsNativeOverPatchedByTotalTime) {
    const EndToEndRow row = compared(series("native", "eager", {150, 151, 149, 150, 152, 150}), series("patched", "eager", {100, 101, 99, 100, 101, 100}));
    EXPECT_NEAR(*row.speedup, 1.5, 1e-9);
    EXPECT_NEAR(*row.removedPct, 100.0 / 3, 1e-9);
    EXPECT_GT(*row.speedupCiLow, 1.47);
    EXPECT_LT(*row.speedupCiHigh, 1.53);
    EXPECT_LE(*row.speedupCiLow, *row.speedup);
    EXPECT_GE(*row.speedupCiHigh, *row.speedup);
    EXPECT_EQ(row.verdict, "faster");
    EXPECT_TRUE(row.reason.empty());
}

TEST(EndToEndRow, DriftThatBothSidesShareCancels) {
    // The machine slows down by half on the way: unpaired, the intervals of the two would overlap.
    std::vector<double> native, patched;
    for (int round = 0; round < 10; ++round) {
        native.push_back(110.0 * (1 + 0.05 * round));
        patched.push_back(100.0 * (1 + 0.05 * round));
    }
    const EndToEndRow row = compared(series("native", "eager", native), series("patched", "eager", patched));
    EXPECT_NEAR(*row.speedupCiLow, 1.1, 1e-6);
    EXPECT_NEAR(*row.speedupCiHigh, 1.1, 1e-6);
    EXPECT_EQ(row.verdict, "faster");
}

TEST(EndToEndRow, VerdictsFollowTheInterval) {
    const std::vector<double> native{100, 101, 99, 100, 100, 101};
    EXPECT_EQ(compared(series("native", "eager", native), series("patched", "eager", {130, 131, 129, 130, 131, 130})).verdict, "slower");
    EXPECT_EQ(compared(series("native", "eager", {100, 100, 100, 100, 100}), series("patched", "eager", {100.2, 100.1, 100, 100.1, 100.2})).verdict, "same");
    const EndToEndRow noisy = compared(series("native", "eager", native), series("patched", "eager", {60, 140, 80, 120, 95, 110}));
    EXPECT_EQ(noisy.verdict, "cant_tell");
    EXPECT_NE(noisy.reason.find("holds 1"), std::string::npos) << noisy.reason;
}

TEST(EndToEndRow, FewRunsAreNoVerdictHoweverFarApart) {
    const EndToEndRow row = compared(series("native", "eager", {200, 200, 200, 200}), series("patched", "eager", {100, 100, 100, 100}));
    EXPECT_EQ(row.verdict, "cant_tell");
    EXPECT_NE(row.reason.find("4 timed runs"), std::string::npos) << row.reason;
    EXPECT_EQ(row.speedup, 2.0);
}

TEST(EndToEndRow, OnlyRoundsThatBothSidesEndedCount) {
    const EndToEndRow row = compared(series("native", "eager", {100, 100, 100, 100, 100, 900}), series("patched", "eager", {50, 50, 50, 50, 50}));
    EXPECT_EQ(row.speedup, 2.0);
}

TEST(EndToEndRow, AGraphRowStandsAgainstNativeEagerToo) {
    const GenerateSeries eager = series("native", "eager", {300, 300, 300, 300, 300});
    const GenerateSeries graph = series("native", "graph", {100, 100, 100, 100, 100});
    const GenerateSeries patched = series("patched", "graph", {50, 50, 50, 50, 50});
    const EndToEndRow row = endToEndRow(patched, graph, &eager, {}, "ok");
    EXPECT_EQ(row.speedup, 2.0);
    EXPECT_EQ(row.eagerSpeedup, 6.0);
    EXPECT_EQ(row.eagerSpeedupCiLow, 6.0);
    EXPECT_FALSE(endToEndRow(patched, graph, nullptr, {}, "ok").eagerSpeedup);
}

TEST(EndToEndRow, TokensAreComparedAndTheFirstDifferenceNamed) {
    GenerateSeries native = series("native", "eager", {1, 1, 1, 1, 1}), patched = series("patched", "eager", {1, 1, 1, 1, 1});
    EXPECT_EQ(compared(native, patched).tokensMatch, true);
    EXPECT_FALSE(compared(native, patched).firstDivergence);
    patched.tokenIds = {5, 9, 7};
    EXPECT_EQ(compared(native, patched).tokensMatch, false);
    EXPECT_EQ(compared(native, patched).firstDivergence, 1);
}

TEST(FirstDivergence, IsTheFirstDifferentPlaceOrWhereOneEnds) {
    const std::vector<std::int64_t> a{1, 2, 3, 4}, b{1, 2, 9, 8}, c{1, 2};
    EXPECT_FALSE(firstDivergence(a, a));
    EXPECT_EQ(firstDivergence(a, b), 2);
    EXPECT_EQ(firstDivergence(a, c), 2);
    EXPECT_FALSE(firstDivergence({}, {}));
}

TEST(LogitGap, IsHowMuchTheNativeModelPrefersItsOwnToken) {
    const std::vector<float> logits{0.5f, 4.0f, 3.75f};
    EXPECT_DOUBLE_EQ(logitGap(logits, 1, 2), 0.25);
    EXPECT_DOUBLE_EQ(logitGap(logits, 1, 1), 0.0);
}

TEST(EndToEndSamples, NameTheRowAndItsColumn) {
    const GenerateSeries one = series("patched", "graph", {10, 20});
    std::size_t totals = 0, steps = 0;
    for (const SampleRow& sample : endToEndSamples(one)) {
        EXPECT_EQ(sample.rowKey, "patched|graph");
        if (sample.metric == "total_ms") { EXPECT_EQ(sample.value, one.runs[totals++].totalMs); }
        if (sample.metric == "decode_ms_per_token") { EXPECT_EQ(sample.pass, static_cast<std::int64_t>(steps++)); }
        EXPECT_GE(rowTypeOf<EndToEndRow>().indexOf(sample.metric), 0) << sample.metric;
    }
    EXPECT_EQ(totals, 2U);
    EXPECT_EQ(steps, 6U);
}

}  // namespace
}  // namespace kernelscope
