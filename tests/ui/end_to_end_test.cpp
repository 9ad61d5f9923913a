#include <gtest/gtest.h>

#include <algorithm>

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPushButton>
#include <QTest>

#include <nlohmann/json.hpp>

#include "core/records/context_rows.h"
#include "core/records/row_key.h"
#include "ui/charts/context_plot.h"
#include "ui/charts/share_bars.h"
#include "ui/charts/value_bars.h"
#include "ui/models/context_summary.h"
#include "ui/models/e2e_summary.h"
#include "ui/pages/context_panel.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/end_to_end_controls.h"
#include "ui/pages/end_to_end_page.h"
#include "ui/pages/summary_page.h"
#include "ui/model_line.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/patch_list.h"
#include "ui/widgets/table_view.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

double sumOfSteps(const std::vector<WaterfallStep>& steps) {
    double removed = 0;
    for (const WaterfallStep& step : steps) {
        if (!step.whole) removed += step.from - step.to;
    }
    return removed;
}

TEST(EndToEnd, TheWaterfallGoesFromNativeByWayOfThePredictionToWhatWasMeasured) {
    const auto rows = endToEndRows();
    const auto steps = e2eWaterfall(rows, endToEndResult());
    ASSERT_EQ(steps.size(), 6u);  // native, two operators, predicted, not explained, measured
    EXPECT_EQ(steps.front().label, "Native");
    EXPECT_EQ(steps[1].label, "rms_norm");
    EXPECT_NEAR(steps[1].from - steps[1].to, 20, 1e-9) << "both phases of one operator are one step";
    EXPECT_NEAR(steps.back().to, 100 / 1.43, 1e-9);
    EXPECT_NEAR(100 - sumOfSteps(steps), steps.back().to, 1e-6) << "the steps lead to the measured bar";
}

TEST(EndToEnd, WithoutALedgerOnlyWhatIsKnownIsDrawn) {
    auto rows = endToEndRows();
    rows[1].predictedByGpu = rows[1].predictedBySpan = std::nullopt;
    const auto steps = e2eWaterfall(rows, nlohmann::json::object());
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps.back().label, "Measured");
}

TEST(EndToEnd, TheHeadlineClaimsNoGainThatTheVerdictDoesNot) {
    auto rows = endToEndRows();
    EXPECT_EQ(e2eHeadline(rows), "generate() is 1.43x faster with these kernels (95 %: 1.41 to 1.45)");
    rows[1].verdict = "cant_tell";
    EXPECT_TRUE(e2eHeadline(rows).startsWith("Can't tell"));
    rows[1].verdict = "same";
    EXPECT_TRUE(e2eHeadline(rows).startsWith("generate() is as fast as before"));
}

TEST(EndToEnd, PatchesAreNamedUnlessEverythingIsReplacedByItsBest) {
    PatchList list;
    EXPECT_EQ(list.patch(), QString());
    list.setPatch("rms_norm=fused,rope=my_rope");
    EXPECT_EQ(list.patch(), "rms_norm=fused,rope=my_rope");
    list.setAll(false);
    EXPECT_FALSE(list.any());
}

TEST(EndToEnd, AKernelOfOnesOwnIsOfferedOnceAndTickedAlone) {
    TestWindow window("/nowhere/kernelscope-engine");
    EndToEndPage* page = window->endToEndPage();
    page->offerKernel("/k/mine.cpp", "mine", {"rms_norm", "rope"});
    EXPECT_EQ(page->patches()->patch(), "rms_norm=mine,rope=mine");
    page->patches()->setPatch("rms_norm=mine,silu_mul=fused");
    page->offerKernel("/k/mine.cpp", "mine", {"rms_norm", "rope"});
    EXPECT_EQ(page->patches()->patch(), "rms_norm=mine,silu_mul=fused") << "the next version leaves the choice alone";
}

TEST(EndToEnd, ShowsASavedRunWithItsTokens) {
    TestWindow window("/nowhere/kernelscope-engine");
    window->openRun(toQt(storeEndToEnd(*window->services().store)));
    EndToEndPage* page = window->endToEndPage();
    ASSERT_TRUE(waitFor([&] { return page->showsSaved() && page->waterfall()->isVisible(); }));
    EXPECT_EQ(page->waterfall()->steps().size(), 6u);
    EXPECT_EQ(page->decodeBars()->bars().size(), 2u);
    EXPECT_TRUE(page->subline()->text().contains("all tokens are the same")) << qPrintable(page->subline()->text());
    EXPECT_EQ(page->patches()->patch(), "rms_norm=fused,rope=fused");
}

TEST(EndToEnd, EveryConfigurationStandsWholeInASmallWindow) {
    TestWindow window(kNoEngine);
    const std::string id = storeEndToEnd(*window->services().store);
    for (EndToEndRow row : endToEndRows()) {
        row.mode = "graph";
        ASSERT_TRUE(window->services().store->putRow(id, {"e2e", rowKey(row), valuesOf(row)}));
    }
    window->resize(1024, 700);
    window->openRun(toQt(id));
    const auto tables = window->endToEndPage()->findChildren<TableView*>();
    const auto found = std::find_if(tables.begin(), tables.end(), [](const TableView* each) { return each->accessibleName() == "Configurations"; });
    ASSERT_NE(found, tables.end());
    TableView* table = *found;
    ASSERT_TRUE(waitFor([&] { return table->isVisible() && table->model()->rowCount() == 4; }));
    const auto missing = [&] { return table->visualRect(table->model()->index(3, 0)).bottom() - table->viewport()->rect().bottom(); };
    waitFor([&] { return missing() <= 0; });
    EXPECT_LE(missing(), 0) << "pixels of the last row, below the edge";
}

TEST(EndToEnd, BarsHaveTheIntervalsOfTheirSamples) {
    const auto rows = endToEndRows();
    std::vector<SampleRow> samples;
    for (int i = 0; i < 20; ++i) {
        samples.push_back({"", "ttft_ms", i, 9 + 0.1 * i});
        samples.push_back({"", "decode_ms_per_token", i, 2 + 0.01 * i});
    }
    EndToEndIntervals intervals;
    intervals[rowKey(rows[0])] = e2eIntervals(rows[0], samples);
    const auto first = e2eBars(rows, &EndToEndRow::ttftMs, intervals);
    ASSERT_TRUE(first[0].low && first[0].high);
    EXPECT_LT(*first[0].low, *first[0].high);
    EXPECT_FALSE(first[1].low) << "of this one no samples have come";
    const auto rate = e2eBars(rows, &EndToEndRow::decodeTokensPerS, intervals);
    EXPECT_LT(*rate[0].low, *rate[0].high);
    EXPECT_FALSE(e2eIntervals(rows[0], std::span(samples).first(4)).ttftMs) << "two samples are no interval";
}

std::vector<ContextRow> contextRows() {
    std::vector<ContextRow> rows;
    for (const std::int64_t batch : {1, 4}) {
        for (const std::int64_t context : {32, 2048}) {
            ContextRow row{batch, context, "ok", 2.0 * double(batch) * (context > 32 ? 1.5 : 1), {}, {}, {}, {}, 3LL << 30, 1LL << 20, {}};
            row.decodeCiLowMs = *row.decodeMsPerToken * 0.99;
            row.decodeCiHighMs = *row.decodeMsPerToken * 1.01;
            rows.push_back(row);
        }
    }
    return rows;
}

std::vector<ContextShareRow> contextShares() {
    std::vector<ContextShareRow> shares;
    for (const std::int64_t batch : {1, 4}) {
        for (const std::int64_t context : {32, 2048}) {
            shares.push_back({batch, context, "MLP", context > 32 ? 30.0 : 60.0, {}});
            shares.push_back({batch, context, "Attention", context > 32 ? 70.0 : 40.0, {}});
        }
    }
    return shares;
}

TEST(Context, SaysHowATokenSlowsDownAndWhatGrows) {
    EXPECT_EQ(contextHeadline(contextRows(), contextShares()), "A token takes 2.00 ms after 32 tokens and 3.00 ms after 2048 (1.50x); Attention grows from 40 to 70 %");
    const auto lines = decodeLines(contextRows());
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1].batch, 4);
    EXPECT_EQ(memoryLines(contextRows())[0].points[0].value, 3);
    const auto columns = shareColumns(contextShares(), 1, false);
    ASSERT_EQ(columns.size(), 2u);
    EXPECT_EQ(columns[0].parts[0].first, "Attention") << "one order in every column";
    EXPECT_TRUE(shareColumns(contextShares(), 1, true).empty()) << "no GPU time, no columns of it";
}

TEST(Context, ASavedRunOpensInItsTab) {
    TestWindow window("/nowhere/kernelscope-engine");
    Store& store = *window->services().store;
    RunHeader header = profileHeader();
    header.kind = "context";
    header.settings = {{"context", {32, 2048}}, {"batch", {1, 4}}};
    auto created = store.createRun(header);
    ASSERT_TRUE(created.ok());
    std::vector<RowRecord> records;
    for (const ContextRow& row : contextRows()) records.push_back({"context", rowKey(row), valuesOf(row)});
    for (const ContextShareRow& row : contextShares()) records.push_back({"context_share", rowKey(row), valuesOf(row)});
    created->status = RunStatus::done;
    ASSERT_TRUE(store.putRows(created->id, records).ok());
    ASSERT_TRUE(store.updateRun(*created).ok());
    window->openRun(toQt(created->id));
    EndToEndPage* page = window->endToEndPage();
    ASSERT_TRUE(waitFor([&] { return page->showsSaved() && page->contextPanel()->isVisible(); }));
    EXPECT_EQ(page->contextPanel()->decode()->lines().size(), 2u);
    EXPECT_EQ(page->contextPanel()->shares()->columns().size(), 2u);
    EXPECT_EQ(page->contextPanel()->model()->rowCount(), 4);
    EXPECT_TRUE(page->headline()->text().startsWith("A token takes")) << qPrintable(page->headline()->text());
    EXPECT_EQ(page->controls()->kind(), "context");
}

TEST(Context, TheTableHoldsTheModelContract) {
    ContextTable table(contextColumns());
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    table.append(contextRows());
    EXPECT_EQ(table.rowCount(), 4);
}

TEST(EndToEnd, TheTableHoldsTheModelContract) {
    EndToEndTable table(endToEndColumns());
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    table.append(endToEndRows());
    EXPECT_EQ(table.rowCount(), 2);
}

TEST(Summary, LeadsFromEachPartToTheRunBehindIt) {
    TestWindow window("/nowhere/kernelscope-engine");
    window->modelLine()->setModel("qwen2.5-0.5b");
    storeProfile(*window->services().store, "Qwen2.5-0.5B");
    storeSweep(*window->services().store);
    storeEndToEnd(*window->services().store);
    storeProfile(*window->services().store, "Another-model");
    window->showPage("Summary");
    SummaryPage* page = window->summaryPage();
    ASSERT_TRUE(waitFor([&] { return page->bars()->isVisible() && !page->bars()->bars().empty(); }));
    EXPECT_TRUE(page->profileHeadline()->text().startsWith("Decode")) << qPrintable(page->profileHeadline()->text());
    QList<QPushButton*> links;
    for (auto* button : page->findChildren<QPushButton*>()) {
        if (button->isVisible() && button->text() == "Open") links << button;
    }
    ASSERT_EQ(links.size(), 3);
    QTest::mouseClick(links.back(), Qt::LeftButton);
    EXPECT_TRUE(waitFor([&] { return window->currentPage() != page; }));
    // A model nobody measured has nothing, and says how to begin.
    window->modelLine()->setModel("qwen2.5-72b");
    window->showPage("Summary");
    ASSERT_TRUE(waitFor([&] { return !page->bars()->isVisible(); }));
}

TEST(Summary, DrawsNoAxisOfWhatWasNotMeasured) {
    TestWindow window(kNoEngine);
    window->modelLine()->setModel("qwen2.5-0.5b");
    storeEndToEnd(*window->services().store);
    window->showPage("Summary");
    SummaryPage* page = window->summaryPage();
    ASSERT_TRUE(waitFor([&] { return page->profileHeadline()->isVisible() && page->profileHeadline()->text() == "Not profiled yet"; }));
    EXPECT_FALSE(page->bars()->isVisible());
    storeProfile(*window->services().store, "Qwen2.5-0.5B");
    window->showPage("Runs");
    window->showPage("Summary");
    EXPECT_TRUE(waitFor([&] { return page->bars()->isVisible() && !page->bars()->bars().empty(); }));
}

TEST(Summary, ASweepOfOneOperatorDoesNotHideWhatIsKnownOfAnother) {
    TestWindow window(kNoEngine);
    window->modelLine()->setModel("qwen2.5-0.5b");
    Store& store = *window->services().store;
    storeSweep(store);
    const auto sweepOf = [&](const std::string& when, const std::string& op, const std::string& device, double speedup) {
        RunHeader header = profileHeader("Qwen2.5-0.5B");
        header.when = when;
        header.kind = "sweep";
        header.dtype = "float16";
        header.device = device;
        header.status = RunStatus::done;
        SweepRow row = sweepRows().back();
        row.op = op;
        row.speedup = speedup;
        const auto run = store.createRun(header);
        return run && store.putRow(run->id, {"sweep", rowKey(row), valuesOf(row)});
    };
    ASSERT_TRUE(sweepOf("2026-02-01T00:00:00Z", "rope", "another GPU", 3) && sweepOf("2026-02-02T00:00:00Z", "silu_mul", profileHeader().device, 2));
    window->showPage("Summary");
    const auto operators = [&] {
        for (const auto* label : window->summaryPage()->findChildren<QLabel*>())
            if (label->accessibleName() == "Operators") return label->text();
        return QString();
    };
    ASSERT_TRUE(waitFor([&] { return operators().contains("silu_mul"); }));
    EXPECT_TRUE(operators().contains("2.00x") && operators().contains("rms_norm") && operators().contains("4.00x")) << qPrintable(operators());
    EXPECT_FALSE(operators().contains("rope")) << "of another device";
}

TEST(Doctor, SaysWhatIsWrongWithAMissingEngineAndWhatStillWorks) {
    TestWindow window("/nowhere/kernelscope-engine");
    window->showPage("Doctor");
    DoctorPage* page = window->doctorPage();
    const QAbstractItemModelTester tester(page->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    ASSERT_TRUE(waitFor([&] { return page->model()->rowCount() >= 3; }));
    const auto& rows = page->model()->rows();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const DoctorRow& row) { return row.status == "failed" && !row.why.empty(); }));
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const DoctorRow& row) { return row.check == "store" && row.status == "ok"; })) << qPrintable(doctorText(rows));
    EXPECT_TRUE(page->headline()->text().contains("failed")) << qPrintable(page->headline()->text());
    EXPECT_TRUE(doctorText(rows).contains("It matters for"));
}

}  // namespace
}  // namespace kernelscope::ui
