#include "core/records/verdict.h"

#include <gtest/gtest.h>

#include "core/records/headline.h"

namespace kernelscope {
namespace {

ProfileRow row(std::string name, std::optional<double> span, std::optional<double> gpu, double totalSpan = 1000, double totalGpu = 500) {
    ProfileRow made{"decode", "type", name, name};
    made.spanUs = made.selfSpanUs = span;
    made.gpuUs = made.selfGpuUs = gpu;
    if (span) made.spanSharePct = 100 * *span / totalSpan;
    if (gpu) made.gpuSharePct = 100 * *gpu / totalGpu;
    if (span && gpu) made.gapUs = *span - *gpu;
    return made;
}

/// 1 ms by the clock, 0.5 ms of it the GPU's.
std::vector<ProfileRow> gpuRows() {
    return {row("Attention", 500, 300), row("RMSNorm", 250, 100), row("MLP", 150, 90), row("Residual", 60, 5), row("unattributed", 40, 5), row("total", 1000, 500)};
}

PassWork work(double bytes, double flops) { return {1e12, 1e14, {{"MLP", bytes, flops}}}; }  // 1 TB/s: 1 us a megabyte; 100 Tflop/s

TEST(Verdict, IsLaunchBoundWhereTheDeviceWaitsMoreThanHalfOfTheTime) {
    EXPECT_EQ(boundOf(1000, 400, 600, nullptr), Bound::launch);
    EXPECT_EQ(boundOf(1000, 600, 400, nullptr), Bound::unknown) << "without work and rates nothing else can be told";
}

TEST(Verdict, IsMemoryOrComputeBoundByWhatTakesHalfOfTheTimeOrMore) {
    const PassWork bytes = work(400e6, 1e9), flops = work(1e6, 40e9), little = work(100e6, 1e9);
    EXPECT_EQ(boundOf(600, 600, 0, &bytes), Bound::memory);
    EXPECT_EQ(boundOf(600, 600, 0, &flops), Bound::compute);
    EXPECT_EQ(boundOf(600, 600, 0, &little), Bound::latency);
    EXPECT_EQ(boundOf(600, std::nullopt, 0, &bytes), Bound::memory) << "on a CPU the pass is the device's time";
}

TEST(Verdict, AGapBeatsEveryModelOfWork) {
    const PassWork bytes = work(400e6, 1e9);
    EXPECT_EQ(boundOf(1000, 450, 550, &bytes), Bound::launch);
}

TEST(Verdict, WorkAndRatesComeBackFromARunsResult) {
    nlohmann::json result;
    keepWork(result, "decode", work(400e6, 2e9));
    const auto back = passWorkOf(result, "decode");
    ASSERT_TRUE(back);
    EXPECT_NEAR(back->memoryUs(), 400, 1e-6);
    EXPECT_NEAR(back->computeUs(), 20, 1e-6);
    EXPECT_NEAR(back->leastUs("MLP"), 400, 1e-6);
    EXPECT_DOUBLE_EQ(back->leastUs("Rotary"), 0);
    EXPECT_FALSE(passWorkOf(result, "prefill"));
    EXPECT_FALSE(passWorkOf({{"limits", 3}, {"work", "text"}}, "decode"));
    EXPECT_FALSE(passWorkOf(nullptr, "decode"));
}

TEST(Verdict, StandsInTheHeadlineWithWhatItComesFrom) {
    nlohmann::json result;
    keepWork(result, "decode", work(400e6, 1e9));
    const std::vector busy{row("MLP", 590, 580), row("total", 600, 590)};
    EXPECT_EQ(phaseHeadline(busy, "decode", result),
              "Decode 600 µs a token · GPU busy 590 µs (98 %) · memory-bound (its bytes take 400 µs at the copy rate) · MLP 98 % of the GPU's time");
    const std::vector cpu{row("MLP", 590, {}, 600), row("total", 600, {}, 600)};
    EXPECT_EQ(phaseHeadline(cpu, "decode", result), "Decode 600 µs a token · memory-bound (its bytes take 400 µs at the copy rate) · MLP 98 %");
}

TEST(BestCases, AreOneATypeLargestFirstBySpanAndByGpuTime) {
    const auto cases = bestCases(gpuRows(), "decode");
    ASSERT_EQ(cases.size(), 4U);
    EXPECT_EQ(cases[0].type, "Attention");
    EXPECT_NEAR(*cases[0].bySpan, 2.0, 1e-9);
    EXPECT_NEAR(*cases[0].byGpu, 2.5, 1e-9);
    EXPECT_EQ(cases[1].type, "RMSNorm");
    EXPECT_NEAR(*cases[1].bySpan, 1 / 0.75, 1e-9);
    EXPECT_NEAR(*cases[1].byGpu, 1 / 0.8, 1e-9);
}

TEST(BestCases, APerfectKernelStillTakesWhatItsBytesAndOperationsTake) {
    const PassWork known{1e12, 1e14, {{"MLP", 60e6, 1e9}, {"RMSNorm", 10e6, 0}, {"Residual", 5e6, 0}}};
    for (const BestCase& best : bestCases(gpuRows(), "decode", &known)) {
        if (best.type == "MLP") {
            EXPECT_NEAR(*best.bySpan, 1000.0 / (1000 - 150 + 60), 1e-9);
            EXPECT_NEAR(*best.byGpu, 500.0 / (500 - 90 + 60), 1e-9);
        }
        if (best.type == "Residual") { EXPECT_NEAR(*best.byGpu, 1.0, 1e-9) << "it is as quick as its bytes allow"; }
    }
    std::vector<ProfileRow> fused = gpuRows();
    std::erase_if(fused, [](const ProfileRow& each) { return each.name == "Residual"; });
    for (const BestCase& best : bestCases(fused, "decode", &known)) {
        if (best.type == "RMSNorm") { EXPECT_NEAR(*best.bySpan, 1000.0 / (1000 - 250 + 15), 1e-9) << "fused, the adds are the norm's work"; }
    }
}

TEST(BestCases, AreAddedUpFromFinerRowsAndSaidInOneSentence) {
    std::vector<ProfileRow> leaves = gpuRows();
    leaves.insert(leaves.begin(), row("model.layers.0.mlp.up_proj", 100, 50));
    leaves.front().type = "MLP";
    EXPECT_NEAR(*bestCases(leaves, "decode")[1].bySpan, 1 / 0.75, 1e-9);
    EXPECT_EQ(bestCaseSentence(gpuRows(), "decode"),
              "Perfect kernels would buy at most: Attention 2.00x by span, 2.50x by GPU time; RMSNorm 1.33x by span, 1.25x by GPU time; MLP 1.18x by span, "
              "1.22x by GPU time; Residual 1.06x by span, 1.01x by GPU time.");
    EXPECT_EQ(bestCaseSentence(std::vector{row("MLP", 500, {}), row("total", 1000, {})}, "decode"), "Perfect kernels would buy at most: MLP 2.00x.");
    EXPECT_EQ(bestCaseSentence({}, "decode"), "");
}

TEST(Caution, IsSilentWhereTheFiguresAgree) { EXPECT_EQ(cautionOf(gpuRows(), "decode"), ""); }

TEST(Caution, SaysWhereMediansAndSharesDisagree) {
    std::vector<ProfileRow> rows = gpuRows();
    rows[1].spanSharePct = 33;  // its median is a quarter of the median pass
    const std::string text = cautionOf(rows, "decode");
    EXPECT_NE(text.find("for RMSNorm they differ by 8 points"), std::string::npos) << text;
    EXPECT_EQ(cautionOf(rows, "prefill"), "");
}

TEST(Caution, SaysThatATaxWiderThanItselfIsNotKnown) {
    std::vector<ProfileRow> rows = gpuRows();
    ProfileRow tax{"decode", "type", "profiler tax", "profiler tax"};
    tax.spanSharePct = 3;
    tax.spanShareCiLowPct = 2;
    tax.spanShareCiHighPct = 4;
    rows.push_back(tax);
    EXPECT_EQ(cautionOf(rows, "decode"), "");
    rows.back().spanShareCiHighPct = 43;
    EXPECT_NE(cautionOf(rows, "decode").find("the tax is not known"), std::string::npos);
    EXPECT_FALSE(canBeTold(rows.back(), 1.4, -361.6, 364.4));
    EXPECT_TRUE(canBeTold(rows.back(), 3, 2, 4));
    EXPECT_TRUE(canBeTold(rows.front(), 46.5, 30, 60)) << "a share's interval may be wide where the share is";
    rows.back().spanShareCiHighPct = 4;
    rows.back().spanSharePct = -3.9;
    EXPECT_NE(cautionOf(rows, "decode").find("the tax is not known"), std::string::npos);
}

}  // namespace
}  // namespace kernelscope
