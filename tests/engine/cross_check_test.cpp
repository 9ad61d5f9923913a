#include "core/measure/cross_check.h"

#include <gtest/gtest.h>

#include "tests/engine/small_tree.h"

namespace kernelscope {
namespace {

using namespace test;

GraphNode node(int module, double kernelUs, const char* name) {
    GraphNode made;
    made.name = name;
    made.module = module;
    made.kernelUs = kernelUs;
    made.backToBackUs = kernelUs + 0.387;
    return made;
}

class EngineCrossCheck : public testing::Test {
protected:
    EngineCrossCheck() { graph.nodes = {node(kNorm, 2, "norm"), node(kProjection, 6, "gemm"), node(kRoot, 1, "argmax")}; }
    static std::vector<DeviceRecord> pass(double norm, double gemm, double argmax, const char* gemmName = "gemm") {
        return {{NodeKind::kernel, "norm", norm}, {NodeKind::kernel, gemmName, gemm}, {NodeKind::kernel, "argmax", argmax}};
    }
    GraphProfile graph;
};

TEST_F(EngineCrossCheck, HoldsEachTypeAgainstTheMeanOfTheTrace) {
    const auto check = crossCheck("decode", graph, {pass(1.9, 6.0, 1.0), pass(2.1, 6.0, 1.0)}, smallTree());
    ASSERT_TRUE(check);
    const std::vector<CrossCheckRow>& rows = check->rows;
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].name, "RMSNorm");
    EXPECT_NEAR(rows[0].traceUs, 2.0, 1e-12);
    EXPECT_NEAR(rows[0].errorPct.value(), 0.0, 1e-9);
    EXPECT_EQ(rows[2].name, "unattributed");
    EXPECT_EQ(rows[3].name, "total");
    EXPECT_EQ(rows[3].kernels, 3);
}

TEST_F(EngineCrossCheck, AnErrorShowsInTheRowAndInTheShares) {
    const auto check = crossCheck("decode", graph, {pass(2.5, 6.0, 1.5)}, smallTree());
    ASSERT_TRUE(check);
    const std::vector<CrossCheckRow>& rows = check->rows;
    EXPECT_NEAR(rows[0].errorPct.value(), -20.0, 1e-9);
    EXPECT_NEAR(rows[0].shareErrorPoints, 100 * (2.0 / 9.0 - 2.5 / 10.0), 1e-9);
}

TEST_F(EngineCrossCheck, AddsUpTheKernelsOfOneNameInEachType) {
    graph.nodes.push_back(node(kNorm, 4, "norm"));
    auto traced = pass(1.5, 6.0, 1.0);
    traced.push_back({NodeKind::kernel, "norm", 3.5});
    const auto check = crossCheck("decode", graph, {traced}, smallTree());
    ASSERT_TRUE(check);
    ASSERT_EQ(check->kernels.size(), 3U);
    EXPECT_EQ(check->kernels[0].name, "norm");
    EXPECT_EQ(check->kernels[0].type, "RMSNorm");
    EXPECT_EQ(check->kernels[0].count, 2);
    EXPECT_DOUBLE_EQ(check->kernels[0].traceUs, 5.0);
    EXPECT_DOUBLE_EQ(check->kernels[0].kernelUs, 6.0);
}

TEST_F(EngineCrossCheck, CountsNamesThatDiffer) {
    EXPECT_EQ(crossCheck("decode", graph, {pass(2, 6, 1, "another gemm")}, smallTree())->rows.back().namesDiffer, 1);
}

TEST_F(EngineCrossCheck, RefusesATraceOfOtherNodes) {
    EXPECT_FALSE(crossCheck("decode", graph, {}, smallTree()));
    EXPECT_FALSE(crossCheck("decode", graph, {{{NodeKind::kernel, "norm", 1}}}, smallTree()));
    auto other = pass(2, 6, 1);
    other[1].kind = NodeKind::memset;
    const auto refused = crossCheck("decode", graph, {other}, smallTree());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("Node 1"), std::string::npos);
}

}  // namespace
}  // namespace kernelscope
