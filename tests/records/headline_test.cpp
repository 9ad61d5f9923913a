#include "core/records/headline.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

ProfileRow cpuRow(std::string name, double span, std::string phase = "decode") {
    ProfileRow row{std::move(phase), "type", name, name};
    row.spanUs = row.selfSpanUs = span;
    return row;
}

ProfileRow gpuRow(std::string name, double span, double gpu) {
    ProfileRow row = cpuRow(std::move(name), span);
    row.gpuUs = row.selfGpuUs = gpu;
    row.gapUs = span - gpu;
    return row;
}

TEST(Headline, OfACpuProfileNamesTheTwoLargestTypes) {
    const std::vector rows{cpuRow("Attention", 3000), cpuRow("MLP", 1250), cpuRow("RMSNorm", 900), cpuRow("unattributed", 1100),
                           cpuRow("total", 6250), cpuRow("profiler tax", 40)};
    EXPECT_EQ(profileHeadline(rows), "Decode 6.21 ms a token · Attention 48 %, then MLP 20 %");
}

TEST(Headline, ShowsTheTablesOwnSharesWhereItHasThem) {
    std::vector rows{cpuRow("Attention", 3000), cpuRow("total", 6250)};
    rows[0].spanSharePct = 50.4;
    EXPECT_EQ(profileHeadline(rows), "Decode 6.25 ms a token · Attention 50 %");
}

TEST(Headline, OfALaunchBoundGpuProfileSaysWhoWaits) {
    const std::vector rows{gpuRow("Attention", 3000, 700), gpuRow("RMSNorm", 1300, 380), gpuRow("MLP", 1900, 750),
                           gpuRow("total", 6210, 1830), gpuRow("profiler tax", 0, 0)};
    EXPECT_EQ(profileHeadline(rows), "Decode 6.21 ms a token · GPU busy 1.83 ms (29 %) · launch-bound · Attention is 53 % of the gaps");
}

TEST(Headline, OfABusyGpuNamesWhatKeepsItBusy) {
    const std::vector rows{gpuRow("Attention", 700, 690), gpuRow("MLP", 1100, 1090), gpuRow("total", 1830, 1800)};
    EXPECT_EQ(profileHeadline(rows), "Decode 1.83 ms a token · GPU busy 1.80 ms (98 %) · MLP 61 %, then Attention 38 % of the GPU's time");
}

TEST(Headline, SumsRowsOfOneTypeAtLeafLevel) {
    std::vector rows{cpuRow("model.layers.0.mlp.up_proj", 100), cpuRow("model.layers.1.mlp.up_proj", 300), cpuRow("total", 1000)};
    rows[0].type = rows[1].type = "MLP";
    EXPECT_EQ(profileHeadline(rows), "Decode 1.00 ms a token · MLP 40 %");
}

TEST(Headline, OfBlocksSpeaksOfTheLayersTogether) {
    std::vector rows{cpuRow("model.layers.0", 400), cpuRow("model.layers.1", 500), cpuRow("lm_head", 100), cpuRow("total", 1000)};
    for (ProfileRow& row : rows) row.level = "block";
    rows[0].type = rows[1].type = "";
    rows[2].type = "LM head";
    EXPECT_EQ(profileHeadline(rows), "Decode 1.00 ms a token · 2 layers 90 %, then LM head 10 %");
    for (ProfileRow& row : rows) row.gpuUs = row.selfGpuUs = *row.spanUs / 10, row.gapUs = *row.spanUs - *row.gpuUs;
    EXPECT_EQ(profileHeadline(rows), "Decode 1.00 ms a token · GPU busy 100 µs (10 %) · launch-bound · 2 layers are 90 % of the gaps");
}

TEST(Headline, OfTwoPhasesIsTwoSentences) {
    const std::vector rows{cpuRow("MLP", 600, "prefill"), cpuRow("total", 1000, "prefill"), cpuRow("MLP", 100), cpuRow("total", 200)};
    EXPECT_EQ(profileHeadline(rows), "Prefill 1.00 ms · MLP 60 %. Decode 200 µs a token · MLP 50 %");
}

TEST(Headline, OfASweepSaysWhatEachVariantGains) {
    SweepRow native, fused;
    native.variant = "native";
    native.speedup = 1;
    fused.variant = "fused";
    std::vector<SweepRow> rows{native};
    for (const double speedup : {10.0, 12.0, 20.0}) {
        fused.speedup = speedup;
        rows.push_back(fused);
    }
    EXPECT_EQ(sweepHeadline(rows, "native"), "4 cells, against native: fused 13.39x (geometric mean)");
    rows[1].verdict = "cant_tell";
    EXPECT_EQ(sweepHeadline(rows, "native"), "4 cells, against native: fused 15.49x (geometric mean)");
    EXPECT_EQ(sweepHeadline(std::vector{native}, "native"), "1 cell");
}

TEST(Headline, WithoutATotalThereIsNothingToSay) {
    EXPECT_EQ(profileHeadline(std::vector{cpuRow("MLP", 600)}), "");
    EXPECT_EQ(profileHeadline(std::vector<ProfileRow>{}), "");
}

TEST(Headline, OfASweepAndAValidationCountsWhatWentWrong) {
    SweepRow fine, fast, gone;
    fine.variant = "native", fine.speedup = 1, fine.status = "ok";
    fast.variant = "fused", fast.speedup = 2, fast.status = "ok";
    gone.variant = "mine", gone.status = "crashed";
    EXPECT_EQ(sweepHeadline(std::vector{fine, fast, gone}, "native"), "3 cells (1 crashed), against native: fused 2.00x (geometric mean)");
    ValidateRow right, wrong;
    right.status = "ok", wrong.status = "wrong";
    EXPECT_EQ(validateHeadline(std::vector{right, right, wrong}), "3 checks: 2 ok, 1 wrong");
}

}  // namespace
}  // namespace kernelscope
