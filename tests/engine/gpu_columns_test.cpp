#include "core/measure/gpu_columns.h"

#include <map>

#include <gtest/gtest.h>

#include "core/measure/timeline.h"
#include "tests/engine/small_tree.h"

namespace kernelscope {
namespace {

using namespace test;

GraphNode kernel(int module, double us) {
    GraphNode node;
    node.name = "kernel";
    node.module = module;
    node.backToBackUs = us;
    node.kernelUs = us - 0.387;
    node.replaysUs = {us * 0.99, us, us * 1.01};
    return node;
}

/// Norm 2, attention 1 + projection 3 + 1, mlp 8, nobody 5.
GraphProfile madeUpGraph() {
    GraphProfile graph;
    graph.method = "marked graph";
    graph.nodes = {kernel(kNorm, 2), kernel(kAttention, 1), kernel(kProjection, 3), kernel(kAttention, 1), kernel(kMlp, 8), kernel(kRoot, 5)};
    graph.plainUs = 20;
    return graph;
}

const ProfileRow& row(const std::vector<ProfileRow>& rows, const std::string& name) {
    for (const ProfileRow& each : rows) {
        if (each.name == name) return each;
    }
    throw std::out_of_range("no row " + name);
}

std::vector<ProfileRow> spanRows(ProfileLevel level) {
    SpanTable table("decode", level, smallTree());
    PassSpans pass;
    pass.visits = {{kNorm, 0, 20, 20, 0, 0}, {kAttention, 20, 50, level == ProfileLevel::leaf ? 20.0 : 50.0, 0, 0}};
    if (level == ProfileLevel::leaf) pass.visits.push_back({kProjection, 30, 30, 30, 0, 0});
    pass.visits.push_back({kMlp, 70, 20, 20, 0, 0});
    pass.totalUs = 100;
    table.addInstrumented(pass);
    return table.rows(false);
}

TEST(EngineGpuColumns, ANodeCountsToTheNearestTimedModuleAroundIt) {
    std::vector<ProfileRow> rows = spanRows(ProfileLevel::type);
    addGpuColumns(rows, madeUpGraph(), smallTree(), ProfileLevel::type);
    EXPECT_DOUBLE_EQ(row(rows, "Attention").gpuUs.value(), 5);
    EXPECT_EQ(row(rows, "Attention").kernels.value(), 3);
    EXPECT_DOUBLE_EQ(row(rows, "Attention").gapUs.value(), 45);
    EXPECT_DOUBLE_EQ(row(rows, "unattributed").gpuUs.value(), 5);
    EXPECT_DOUBLE_EQ(row(rows, "total").gpuUs.value(), 20);
    EXPECT_EQ(row(rows, "total").kernels.value(), 6);
}

TEST(EngineGpuColumns, SharesAddUpTo100) {
    for (ProfileLevel level : {ProfileLevel::type, ProfileLevel::leaf}) {
        std::vector<ProfileRow> rows = spanRows(level);
        addGpuColumns(rows, madeUpGraph(), smallTree(), level);
        double sum = 0;
        for (const ProfileRow& each : rows) {
            if (each.name != "total") sum += each.gpuSharePct.value_or(0);
        }
        EXPECT_NEAR(sum, 100.0, 1e-9);
    }
}

TEST(EngineGpuColumns, AtLeafLevelAParentKeepsItsOwnKernelsOnly) {
    std::vector<ProfileRow> rows = spanRows(ProfileLevel::leaf);
    addGpuColumns(rows, madeUpGraph(), smallTree(), ProfileLevel::leaf);
    EXPECT_DOUBLE_EQ(row(rows, "model.layers.0.self_attn").selfGpuUs.value(), 2);
    EXPECT_EQ(row(rows, "model.layers.0.self_attn").kernels.value(), 2);
    EXPECT_DOUBLE_EQ(row(rows, "model.layers.0.self_attn.q_proj").gpuUs.value(), 3);
}

TEST(EngineGpuColumns, InGraphModeSpanEqualsGpuAndTheTaxIsEmpty) {
    const std::vector<ProfileRow> rows = graphModeRows("decode", madeUpGraph(), smallTree(), ProfileLevel::type);
    EXPECT_DOUBLE_EQ(row(rows, "MLP").spanUs.value(), 8);
    EXPECT_DOUBLE_EQ(row(rows, "MLP").gapUs.value(), 0);
    EXPECT_DOUBLE_EQ(row(rows, "MLP").spanSharePct.value(), 40);
    EXPECT_DOUBLE_EQ(row(rows, "total").spanUs.value(), 20);
    EXPECT_FALSE(row(rows, "profiler tax").spanUs.has_value());
}

TEST(EngineGpuColumns, InGraphModeTheSamplesAreTheReplaysOfTheGraph) {
    GraphProfile graph = madeUpGraph();
    graph.plainReplaysUs = {19, 20, 21};
    std::map<std::pair<std::string, std::string>, std::vector<double>> samples;
    for (const SampleRow& sample : graphModeSamples("decode", graph, smallTree(), ProfileLevel::type)) samples[{sample.rowKey, sample.metric}].push_back(sample.value);
    EXPECT_EQ((samples[{"decode/type/total", "span_us"}]), graph.plainReplaysUs);
    ASSERT_EQ((samples[{"decode/type/MLP", "self_span_us"}].size()), 3U);
    EXPECT_DOUBLE_EQ((samples[{"decode/type/Attention", "self_span_us"}][0]), 5 * 0.99);
    EXPECT_DOUBLE_EQ((samples[{"decode/type/unattributed", "self_span_us"}][2]), 5 * 1.01);
}

TEST(EngineGpuColumns, InGraphModeNothingIsLeftOfTheEagerPassesBefore) {
    SpanTable table("decode", ProfileLevel::type, smallTree());
    PassSpans pass;
    pass.visits = {{kNorm, 0, 20, 20, 0, 20}, {kHead, 20, 50, 50, 20, 50}};
    pass.totalUs = 70;
    table.addInstrumented(pass);
    const GraphProfile graph = madeUpGraph();
    std::vector<ProfileModuleRow> modules = moduleRows("decode", table, &graph, smallTree());
    std::vector<ProfileEventRow> events = eventRows("decode", pass, &graph, smallTree());
    ASSERT_EQ(events.size(), 2 * pass.visits.size() + graph.nodes.size());
    keepGraphAlone(modules, events);
    EXPECT_EQ(events.size(), graph.nodes.size());
    for (const ProfileModuleRow& module : modules) {
        EXPECT_NE(module.path, "lm_head") << "the graph has no node of it";
        EXPECT_EQ(module.selfSpanUs, module.selfGpuUs) << module.path;
    }
}

TEST(EngineGpuColumns, KernelRowsStandInOrderWithTheirModuleInTheNote) {
    const std::vector<ProfileRow> rows = kernelRows("decode", madeUpGraph(), smallTree());
    ASSERT_EQ(rows.size(), 9U);
    EXPECT_EQ(rows[2].note, "model.layers.0.self_attn.q_proj");
    EXPECT_EQ(rows[2].type, "Attention");
    EXPECT_EQ(rows[5].type, "unattributed");
    EXPECT_DOUBLE_EQ(rows[6].gpuUs.value(), 0) << "kernels outside modules have rows of their own";
    EXPECT_FALSE(rows[2].spanUs.has_value());
}

}  // namespace
}  // namespace kernelscope
