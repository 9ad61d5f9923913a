#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "ui/models/profile_summary.h"
#include "ui/models/profile_tree.h"
#include "ui/models/roles.h"
#include "ui/models/sort_filter.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;
constexpr auto kStrict = QAbstractItemModelTester::FailureReportingMode::Fatal;

double shareSum(const std::vector<ShareBar>& bars) {
    double sum = 0;
    for (const ShareBar& bar : bars) sum += bar.share.value_or(0);
    return sum;
}

TEST(ProfileTree, NewFiguresOfTheSameRowsChangeCellsInPlace) {
    ProfileTree tree;
    const QAbstractItemModelTester tester(&tree, kStrict);
    tree.setRows(profileRows(1));
    ASSERT_EQ(tree.rowCount(), 10);
    QSignalSpy resets(&tree, &QAbstractItemModel::modelReset), changes(&tree, &QAbstractItemModel::dataChanged);
    tree.setRows(profileRows(2));
    EXPECT_EQ(resets.count(), 0);
    EXPECT_EQ(changes.count(), 1);
    EXPECT_DOUBLE_EQ(tree.index(0, ProfileTree::kSpan).data(kRawRole).toDouble(), 6304);
}

TEST(ProfileTree, LeavesStandUnderTheirLayerWhichAddsThemUp) {
    ProfileTree tree;
    const QAbstractItemModelTester tester(&tree, kStrict);
    tree.setRows(leafRows(3));
    const QModelIndex layer = tree.index(1, 0);
    EXPECT_EQ(layer.data().toString(), "layers.0");
    EXPECT_EQ(tree.rowCount(layer), 4);
    EXPECT_DOUBLE_EQ(layer.siblingAtColumn(ProfileTree::kSpan).data(kRawRole).toDouble(), 5 + 20 + 12 + 2 + 30);
    const QModelIndex attention = tree.index(1, 0, layer);
    EXPECT_EQ(attention.data().toString(), "self_attn");
    EXPECT_DOUBLE_EQ(attention.siblingAtColumn(ProfileTree::kSpan).data(kRawRole).toDouble(), 32);
    EXPECT_DOUBLE_EQ(attention.siblingAtColumn(ProfileTree::kSelfSpan).data(kRawRole).toDouble(), 12);
}

TEST(ProfileTree, WhatAnInnerRowWaitsIsItsSpanLessItsGpuTimeItsOwnWorkIncluded) {
    std::vector<ProfileRow> rows = leafRows(1);
    for (ProfileRow& row : rows) {
        if (row.name == "total") continue;
        row.selfGpuUs = 1;
        if (row.name == "model.layers.0.self_attn") row.spanUs.reset();  // a parent: self time alone
        else row.gpuUs = 1, row.gapUs = *row.selfSpanUs - 1;
    }
    ProfileTree tree;
    tree.setRows(rows);
    const QModelIndex layer = tree.index(1, 0);
    const auto value = [&](int column) { return layer.siblingAtColumn(column).data(kRawRole).toDouble(); };
    EXPECT_GT(value(ProfileTree::kGap), 0);
    EXPECT_DOUBLE_EQ(value(ProfileTree::kGap), value(ProfileTree::kSpan) - value(ProfileTree::kGpu));
}

TEST(ProfileTree, TotalsStayAtTheBottomInBothDirections) {
    ProfileTree tree;
    tree.setRows(profileRows());
    SortFilter sorted;
    const QAbstractItemModelTester tester(&sorted, kStrict);
    sorted.setSourceModel(&tree);
    for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        sorted.sort(ProfileTree::kSpanShare, order);
        EXPECT_EQ(sorted.index(7, 0).data().toString(), "unattributed");
        EXPECT_EQ(sorted.index(8, 0).data().toString(), "total");
        EXPECT_EQ(sorted.index(9, 0).data().toString(), "profiler tax");
    }
    EXPECT_EQ(sorted.index(0, 0).data().toString(), "Attention");
}

TEST(ProfileTree, EveryWordOfTheFilterHasToBeFound) {
    ProfileTree tree;
    tree.setRows(leafRows(2));
    SortFilter sorted;
    sorted.setSourceModel(&tree);
    sorted.setWords("q_proj");
    ASSERT_EQ(sorted.rowCount(), 2);  // the two layers that hold one
    EXPECT_EQ(sorted.rowCount(sorted.index(0, 0)), 1);
    sorted.setWords("q_proj nothing");
    EXPECT_EQ(sorted.rowCount(), 0);
}

TEST(ShareBars, AddUpToAHundredWithUnattributedLast) {
    const auto bars = shareBars(profileRows(), {});
    ASSERT_EQ(bars.size(), 8u);
    EXPECT_EQ(bars.front().name, "Attention");
    EXPECT_TRUE(bars.back().unattributed);
    EXPECT_NEAR(shareSum(bars), 100, 0.01);
    EXPECT_TRUE(bars.front().low && bars.front().high);
    EXPECT_FALSE(bars.front().gpuShare);
}

TEST(ShareBars, OfLeavesAreSummedByTypeAndClaimNoInterval) {
    const auto bars = shareBars(leafRows(4), {});
    EXPECT_NEAR(shareSum(bars), 100, 0.01);
    for (const ShareBar& bar : bars) {
        if (bar.name == "Attention") {
            EXPECT_FALSE(bar.low);
        }
    }
}

TEST(ShareBars, TwoNearlyEqualBarsDoNotSwapWhileARunIsLive) {
    auto rows = profileRows();
    const auto before = shareBars(rows, {});
    for (ProfileRow& row : rows) {
        if (row.name == "LM head") row.spanSharePct = 6.2;   // Residual has 5.9
        if (row.name == "Embedding") row.spanSharePct = 30;  // clearly more than what stands above it
    }
    const auto after = shareBars(rows, before);
    EXPECT_EQ(after[1].name, "Embedding");
    EXPECT_EQ(after[4].name, "Residual");
    EXPECT_EQ(after[5].name, "LM head");
    EXPECT_EQ(shareBars(rows, {})[4].name, "LM head");  // a finished run is in its true order
}

TEST(ProfileSubline, SaysRandomWeightsTheTaxAndWhatNothingCovers) {
    const QString line = profileSubline(profileRows(), profileHeader(), false);
    EXPECT_TRUE(line.contains("Random weights")) << qPrintable(line);
    EXPECT_TRUE(line.contains("50 passes")) << qPrintable(line);
    EXPECT_TRUE(line.contains("profiler tax 1.8 %")) << qPrintable(line);
    EXPECT_TRUE(line.contains("unattributed 1.0 %")) << qPrintable(line);
    auto rows = profileRows();
    for (ProfileRow& row : rows) {
        if (row.name != "profiler tax") continue;
        row.spanShareCiLowPct = 1.2;
        row.spanShareCiHighPct = 2.5;
        EXPECT_TRUE(profileSubline(rows, profileHeader(), false).contains("profiler tax 1.8 % (1.2 to 2.5)"));
        row.spanShareCiLowPct = -362;
        row.spanShareCiHighPct = 364;
    }
    EXPECT_TRUE(profileSubline(rows, profileHeader(), false).contains("can't tell the profiler tax")) << "1.8 ± 363 % is no figure";
}

TEST(NextStep, NamesTheLargestReplaceableTypeAndWhatAPerfectKernelWouldBuy) {
    const NextStep next = nextStep(profileRows(1, true));
    EXPECT_EQ(next.type, "RMSNorm");
    EXPECT_EQ(next.op, "rms_norm");
    EXPECT_NEAR(next.bySpan, 1 / (1 - 1379.0 / 6220), 1e-6);
    ASSERT_TRUE(next.byGpu.has_value());
    EXPECT_NEAR(*next.byGpu, 1 / (1 - 186.0 / 1479), 1e-6);
    EXPECT_TRUE(nextStep({}).type.isEmpty());
}

TEST(LayerMap, HasOneCellALayerAndType) {
    const LayerMap map = layerMap(moduleRows(5), "decode");
    EXPECT_EQ(map.layers, 5);
    EXPECT_EQ(map.types.size(), 4u);
    ASSERT_EQ(map.cells.size(), 20u);
    EXPECT_EQ(map.types.front(), "Attention");
    EXPECT_DOUBLE_EQ(map.cells.front().spanUs, 32);
    EXPECT_FALSE(map.hasGpu);
    EXPECT_EQ(layerMap(moduleRows(5), "prefill").layers, 0);
    EXPECT_EQ(layerOf("model.layers.12.mlp"), 12);
    EXPECT_EQ(layerOf("lm_head"), -1);
}

/// Level block on a GPU: layers have spans, what is inside them GPU time alone.
std::vector<ProfileModuleRow> blockModules(int layers) {
    std::vector<ProfileModuleRow> modules = moduleRows(layers);
    for (ProfileModuleRow& module : modules) {
        module.selfGpuUs = 1;
        if (module.layer) module.selfSpanUs.reset();
    }
    for (int layer = 0; layer < layers; ++layer)
        modules.push_back({.phase = "decode", .path = "model.layers." + std::to_string(layer), .type = "", .layer = layer, .selfSpanUs = 70, .selfGpuUs = 0});
    return modules;
}

TEST(LayerMap, OfWholeLayersHasTheirSpansAndTheGpuTimeOfWhatIsInside) {
    const LayerMap map = layerMap(blockModules(5), "decode");
    EXPECT_EQ(withTimesOf(map, false).types, std::vector<std::string>{""});
    EXPECT_EQ(withTimesOf(map, true).types.size(), 5u);
    double inside = 0;
    for (const LayerCell& cell : withTimesOf(map, true).cells)
        if (cell.layer == 2 && !cell.type.empty()) inside += cell.gpuUs;
    for (const LayerCell& cell : withTimesOf(map, true).cells)
        if (cell.layer == 2 && cell.type.empty()) { EXPECT_DOUBLE_EQ(cell.gpuUs, inside); }
    EXPECT_EQ(withTimesOf(layerMap(moduleRows(5), "decode"), true).types.size(), 0u) << "a CPU has no GPU time";
}

TEST(ProfileSelection, OfALayerKeepsItsRowAtBlockLevelWhateverTheType) {
    const ProfileRow layer{.phase = "decode", .level = "block", .name = "model.layers.3"}, head{.phase = "decode", .level = "block", .name = "lm_head", .type = "LM head"};
    EXPECT_TRUE(ProfileSelection({.layer = 3}).keeps(layer));
    EXPECT_FALSE(ProfileSelection({.layer = 2}).keeps(layer));
    EXPECT_TRUE(ProfileSelection({.type = "MLP", .layer = 3}).keeps(layer));
    EXPECT_FALSE(ProfileSelection({.type = "MLP"}).keeps(layer));
    EXPECT_TRUE(ProfileSelection({.type = "LM head"}).keeps(head));
    EXPECT_TRUE(ProfileSelection({.type = "unattributed"}).keeps(profileRows()[7])) << profileRows()[7].name;
    EXPECT_FALSE(ProfileSelection({.type = "MLP"}).keeps(profileRows()[7]));
}

TEST(ProfileSelection, KeepsTheRowsOfItsTypeLayerAndModules) {
    const auto rows = leafRows(3);
    const auto kept = [&](const ProfileSelection& selection) {
        return std::count_if(rows.begin(), rows.end(), [&](const ProfileRow& row) { return selection.keeps(row); });
    };
    EXPECT_EQ(kept({}), long(rows.size()));
    EXPECT_EQ(kept({.type = "Attention"}), 6);
    EXPECT_EQ(kept({.type = "Attention", .layer = 1}), 2);
    EXPECT_EQ(kept({.paths = {"model.layers.2.mlp.down_proj"}}), 1);
}

}  // namespace
}  // namespace kernelscope::ui
