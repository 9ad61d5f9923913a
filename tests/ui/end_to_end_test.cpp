#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPushButton>
#include <QTest>

#include <nlohmann/json.hpp>

#include "ui/charts/share_bars.h"
#include "ui/charts/value_bars.h"
#include "ui/models/e2e_summary.h"
#include "ui/pages/doctor_page.h"
#include "ui/pages/end_to_end_page.h"
#include "ui/pages/summary_page.h"
#include "ui/model_line.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/patch_list.h"
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
