// The ledger's arithmetic, with made-up numbers.

#include <gtest/gtest.h>

#include "core/measure/ledger.h"

namespace kernelscope {
namespace {

LedgerOperator op(const std::string& name, double spanShare, double callSpeedup, double gpuShare, double deviceSpeedup) {
    return {name, "fused", 1, spanShare, gpuShare, 10.0 * callSpeedup, 10.0, 2.0 * deviceSpeedup, 2.0};
}

Ledger oneOperator() { return {"eager", {{"decode", 100, {op("rms_norm", 0.4, 4, 0.2, 2)}}}, std::nullopt}; }

TEST(Ledger, PredictsByAmdahlFromShareAndKernelSpeedUp) {
    const Ledger ledger = oneOperator();
    EXPECT_NEAR(*ledger.predicted(LedgerClock::span), 1 / (1 - 0.4 * (1 - 1.0 / 4)), 1e-12);
    EXPECT_NEAR(*ledger.predicted(LedgerClock::gpu), 1 / (1 - 0.2 * (1 - 1.0 / 2)), 1e-12);
}

TEST(Ledger, AKernelThreeTimesFasterMovesAModelByItsShareOnly) {
    const Ledger ledger{"eager", {{"decode", 100, {op("rms_norm", 0.14, 3, 0.14, 3)}}}, std::nullopt};
    EXPECT_NEAR(*ledger.predicted(LedgerClock::span), 1.103, 0.001);
}

TEST(Ledger, OperatorsAddUpAndPhasesWeighByTheirNativeTime) {
    const Ledger ledger{"eager",
                        {{"prefill", 25, {op("rms_norm", 0.4, 2, 0, 1), op("rope", 0.1, 2, 0, 1)}},
                         {"decode", 75, {op("rms_norm", 0.2, 4, 0, 1), op("rope", 0.2, 2, 0, 1)}}},
                        std::nullopt};
    const double removed = 0.25 * (0.4 / 2 + 0.1 / 2) + 0.75 * (0.2 * 3 / 4 + 0.2 / 2);
    EXPECT_NEAR(*ledger.predicted(LedgerClock::span), 1 / (1 - removed), 1e-12);
    EXPECT_NEAR(*ledger.contributionPct(ledger.phases[1], ledger.phases[1].operators[0], LedgerClock::span), 75 * 0.2 * 0.75, 1e-12);
}

TEST(Ledger, ASlowerKernelPredictsALoss) {
    const Ledger ledger{"eager", {{"decode", 100, {op("rope", 0.5, 0.5, 0.5, 0.5)}}}, std::nullopt};
    EXPECT_NEAR(*ledger.predicted(LedgerClock::span), 1 / 1.5, 1e-12);
}

TEST(Ledger, WhatThePassDoesNotUseTakesNothingAwayWhateverIsKnownOfIt) {
    Ledger ledger = oneOperator();
    LedgerOperator unused;
    unused.op = "rope";
    unused.spanShare = 0.0;
    ledger.phases[0].operators.push_back(unused);
    EXPECT_EQ(ledger.predicted(LedgerClock::span), oneOperator().predicted(LedgerClock::span));
}

TEST(Ledger, WithoutAShareOrATimeThereIsNoPredictionAndItSaysSo) {
    Ledger ledger = oneOperator();
    ledger.measured = Measured{1.2, {1.1, 1.3}};
    ledger.phases[0].operators[0].gpuShare.reset();
    EXPECT_FALSE(ledger.predicted(LedgerClock::gpu));
    EXPECT_TRUE(ledger.predicted(LedgerClock::span));
    EXPECT_FALSE(ledger.residualPoints(LedgerClock::gpu));
    EXPECT_NE(ledger.words(LedgerClock::gpu).find("missing"), std::string::npos);
    ledger.phases[0].operators[0].variantCallUs.reset();
    EXPECT_FALSE(ledger.predicted(LedgerClock::span));
    EXPECT_FALSE((Ledger{"eager", {}, std::nullopt}.predicted(LedgerClock::span)));
}

TEST(Ledger, TheResidualIsWhatTheMeasuredGainRemovesBeyondThePredictedOne) {
    Ledger ledger = oneOperator();  // predicts 30 % by span, 10 % by GPU time
    ledger.measured = Measured{1 / (1 - 0.25), {1.32, 1.34}};
    EXPECT_NEAR(*ledger.residualPoints(LedgerClock::span), -5, 1e-9);
    EXPECT_NEAR(*ledger.residualPoints(LedgerClock::gpu), 15, 1e-9);
    EXPECT_NE(ledger.words(LedgerClock::span).find("5.0 points less"), std::string::npos) << ledger.words(LedgerClock::span);
    EXPECT_NE(ledger.words(LedgerClock::gpu).find("15.0 points more"), std::string::npos) << ledger.words(LedgerClock::gpu);
    EXPECT_NE(ledger.words(LedgerClock::gpu).find("launch gaps removed"), std::string::npos);
    ledger.measured->interval = {1.0, 2.0};
    EXPECT_NE(ledger.words(LedgerClock::gpu).find("agree within the interval"), std::string::npos);
}

TEST(Ledger, ItsDocumentHoldsEveryNumberThatTheWordsComeFrom) {
    Ledger ledger = oneOperator();
    ledger.measured = Measured{1.25, {1.2, 1.3}};
    const nlohmann::json json = ledger.toJson();
    const nlohmann::json& entry = json["phases"][0]["operators"][0];
    EXPECT_DOUBLE_EQ(entry["span_share_pct"], 40.0);
    EXPECT_DOUBLE_EQ(entry["call_speedup"], 4.0);
    EXPECT_DOUBLE_EQ(entry["device_speedup"], 2.0);
    EXPECT_DOUBLE_EQ(entry["contribution_by_span_pct"], 30.0);
    EXPECT_DOUBLE_EQ(json["measured_removed_pct"], 20.0);
    EXPECT_NEAR(json["residual_by_span_points"].get<double>(), -10.0, 1e-9);
    EXPECT_EQ(json["words_by_gpu"], ledger.words(LedgerClock::gpu));
}

TEST(Ledger, UnknownNumbersAreNullInItsDocument) {
    const Ledger ledger{"eager", {{"decode", 10, {LedgerOperator{"rope", "fused", 0, {}, {}, {}, {}, {}, {}}}}}, std::nullopt};
    const nlohmann::json json = ledger.toJson();
    EXPECT_TRUE(json["predicted_by_gpu"].is_null());
    EXPECT_TRUE(json["measured_speedup"].is_null());
    EXPECT_TRUE(json["phases"][0]["operators"][0]["gpu_share_pct"].is_null());
}

}  // namespace
}  // namespace kernelscope
