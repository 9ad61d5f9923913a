#include <gtest/gtest.h>

#include <cmath>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "core/records/row_key.h"
#include "core/records/kernel_detail_rows.h"
#include "ui/charts/cell_grid.h"
#include "ui/charts/error_chart.h"
#include "ui/charts/roofline_plot.h"
#include "ui/charts/sparse_ticks.h"
#include "ui/charts/speedup_plot.h"
#include "ui/models/kernel_evidence.h"
#include "ui/models/kernel_summary.h"
#include "ui/models/kernel_tables.h"
#include "ui/charts/histogram.h"
#include "ui/pages/kernel_charts.h"
#include "ui/pages/kernel_details.h"
#include "ui/pages/kernels_page.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/table_view.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;
const KernelView kFused{.op = "rms_norm", .variant = "fused", .dtype = "float16", .cache = "cold"};

TEST(KernelSummary, HeadlineIsTheGeometricMeanAndSaysWhereItIsSlower) {
    auto rows = sweepRows();
    EXPECT_EQ(sweepHeadline(rows, kFused), "fused is 4.00x faster than native (geometric mean of 4 cells), never slower");
    for (SweepRow& row : rows) {
        if (row.variant == "fused" && row.hidden == 896 && row.rows == 1) row.verdict = "slower";
    }
    EXPECT_TRUE(sweepHeadline(rows, kFused).endsWith("slower in 1"));
    EXPECT_EQ(sweepHeadline({}, kFused), QString());
}

TEST(KernelSummary, AnOperatorsFigureIsThatOfTheTypeAndCacheInView) {
    std::vector<SweepRow> rows;
    for (const auto& [dtype, cache, speedup] : {std::tuple{"float16", "cold", 8.0}, {"float16", "warm", 4.0}, {"bfloat16", "cold", 2.0}}) {
        SweepRow row;
        row.op = "rms_norm";
        row.variant = "fused";
        row.dtype = dtype;
        row.cache = cache;
        row.status = "ok";
        row.hidden = 896;
        row.rows = 1;
        row.speedup = speedup;
        row.verdict = "faster";
        rows.push_back(row);
    }
    const auto seen = [&](const char* dtype, const char* cache) { return bestSpeedup(rows, {.op = "rms_norm", .variant = "fused", .dtype = dtype, .cache = cache}); };
    EXPECT_EQ(seen("float16", "cold"), "8.00x");
    EXPECT_EQ(seen("float16", "warm"), "4.00x");
    EXPECT_EQ(seen("bfloat16", "cold"), "2.00x");
    EXPECT_EQ(seen("bfloat16", "warm"), "");
    EXPECT_EQ(seen("", ""), "4.00x") << "the geometric mean of all three";
    EXPECT_TRUE(sweepHeadline(rows, {"rms_norm", "fused", "float16", "cold"}).startsWith("fused is 8.00x"));
}

TEST(KernelSummary, AWrongCaseIsWhatItsShapeIsCalled) {
    auto rows = validateRows();
    rows[1].status = "wrong";
    rows[1].reason = "writes its input";
    const Grid grid = validationGrid(rows, kFused);
    ASSERT_EQ(grid.cells.size(), 2u);
    EXPECT_EQ(grid.at(0, 0).tone, Tone::bad);
    EXPECT_TRUE(grid.at(0, 0).detail.contains("writes its input"));
    const auto summaries = operatorSummaries(rows, {});
    EXPECT_EQ(summaries.front().status, "1 variant wrong");
    EXPECT_TRUE(validationSentence(rows, kFused).startsWith("3 of 4 validation cases passed"));
}

TEST(KernelSummary, ASkippedCaseSaysNothingOfAKernel) {
    auto rows = validateRows();
    rows[1].status = rows[2].status = rows[3].status = "skipped";  // all of 257 rows, half of 7
    EXPECT_TRUE(validationSentence(rows, kFused).startsWith("1 of 1 validation cases passed, 3 skipped")) << qPrintable(validationSentence(rows, kFused));
    EXPECT_EQ(operatorSummaries(rows, {}).front().status, "Valid");
    const Grid grid = validationGrid(rows, kFused);
    EXPECT_EQ(grid.at(0, 0).tone, Tone::good);
    EXPECT_TRUE(grid.at(0, 0).detail.contains("ok in its one case")) << qPrintable(grid.at(0, 0).detail);
    EXPECT_EQ(grid.at(0, 1).tone, Tone::muted) << "nothing but skipped ones";
    rows[0].status = "skipped";
    EXPECT_EQ(operatorSummaries(rows, {}).front().status, "Not validated");
    EXPECT_EQ(validationSentence(rows, kFused), "all 4 validation cases skipped");
}

TEST(KernelSummary, LinesAreOneAHiddenSizeInOrderOfRows) {
    const auto lines = speedupLines(sweepRows(), kFused);
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].hidden, 896);
    ASSERT_EQ(lines[0].points.size(), 2u);
    EXPECT_LT(lines[0].points[0].rows, lines[0].points[1].rows);
}

ErrorMapRow errorMap(const std::string& variant, std::int64_t hidden, std::int64_t rows, const std::string& ulp) {
    ErrorMapRow map;
    map.op = "rms_norm";
    map.variant = variant;
    map.dtype = "float16";
    map.hidden = hidden;
    map.rows = rows;
    map.caseName = "basic";
    map.output = "out";
    map.columns = hidden;
    map.rowBins = 1;
    map.columnBins = 4;
    map.ulp = ulp;
    map.histogram = "0 75 25 0 0 0 0 0";
    map.nativeHistogram = "0 100 0 0 0 0 0 0";
    map.worstRow = 0;
    map.worstColumn = 700;
    map.got = 0.5;
    map.native = 0.25;
    map.exact = 0.375;
    return map;
}

TEST(KernelEvidence, ErrorsAreThoseOfTheChosenCellOrTheWorstInView) {
    const std::vector<ErrorMapRow> maps{errorMap("fused", 896, 1, "0.5 0.5 0.25 0"), errorMap("fused", 3584, 1, "0 3 inf 0"), errorMap("aten", 896, 1, "9 9 9 9")};
    const ErrorView worst = errorView(maps, kFused, {});
    EXPECT_TRUE(worst.cell.contains("3584")) << qPrintable(worst.cell);
    EXPECT_EQ(worst.most, 3) << "of the finite ones";
    EXPECT_EQ(worst.worst, "row 0, column 700: got 0.5, native 0.25, float64 0.375");
    const ErrorView chosen = errorView(maps, kFused, "rms_norm|fused|float16|896|1|cold");
    EXPECT_EQ(chosen.most, 0.5);
    EXPECT_EQ(chosen.share[1], 75);
    EXPECT_EQ(chosen.nativeShare[1], 100);
    EXPECT_TRUE(errorView(maps, {.op = "rope", .variant = "fused", .dtype = "float16", .cache = "cold"}, {}).empty());
}

TEST(KernelEvidence, ARooflineHasAPointForEveryTimedCellUnderTheRoof) {
    std::vector<RooflineRow> work;
    for (const SweepRow& row : sweepRows()) {
        if (row.variant == "fused") work.push_back({row.op, row.dtype, row.hidden, row.rows, 4e6, 2e6, 2000, 100'000, 1});
    }
    const RooflineView view = rooflineView(work, sweepRows(), kFused);
    ASSERT_EQ(view.points.size(), 8u);
    EXPECT_EQ(view.copyGbPerS, 2000);
    for (const RooflinePoint& point : view.points) EXPECT_EQ(point.intensity, 0.5);
    EXPECT_TRUE(view.points.back().inView) << "drawn last, on top";
    EXPECT_TRUE(view.sentence().contains("fewer than 50.0 operations a byte")) << qPrintable(view.sentence());
    EXPECT_TRUE(rooflineView({}, sweepRows(), kFused).empty());
}

TEST(KernelTables, HoldTheModelContract) {
    SweepTable sweep(sweepColumns());
    ValidationTable validation(validationColumns());
    const QAbstractItemModelTester first(&sweep, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const QAbstractItemModelTester second(&validation, QAbstractItemModelTester::FailureReportingMode::Fatal);
    sweep.append(sweepRows());
    validation.append(validateRows());
    EXPECT_EQ(sweep.rowCount(), 8);
    EXPECT_EQ(validation.rowCount(), 4);
}

TEST(CellGrid, TellsWhichCellWasClicked) {
    CellGrid chart("Shapes");
    chart.resize(400, 300);
    chart.setGrid(sweepGrid(sweepRows(), kFused, GridFigure::limit));
    chart.show();
    QSignalSpy clicked(&chart, &CellGrid::clicked);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.cellRect(1, 0).center().toPoint());
    ASSERT_EQ(clicked.count(), 1);
    EXPECT_TRUE(clicked[0][0].toString().contains("3584")) << qPrintable(clicked[0][0].toString());
}

TEST(PlotDigits, NoTwoTicksReadAlike) {
    // From a range of 0.3 in steps of 0.05 ("1.2 1.2 1.1" with one digit) to one of 12.
    EXPECT_EQ(digitsFor(0.3), 2);
    EXPECT_EQ(digitsFor(0.02), 3);
    EXPECT_EQ(digitsFor(12), 1);
    EXPECT_EQ(digitsFor(0), 1);
    for (double range = 0.01; range < 40; range *= 1.07) EXPECT_LE(std::pow(10, -digitsFor(range)), range / 5 * 0.7 * 1.0001) << range;
}

TEST(SparseTicks, TextsThatWouldWriteOverEachOtherAreLeftOut) {
    SparseTicks axis;
    for (int rows = 1; rows <= 32768; rows *= 2) axis.addTick(rows, QString::number(rows));
    const auto texts = [&](double pixels) {
        QVector<double> ticks;
        QVector<QString> labels;
        axis.setRoom(pixels, QApplication::font());
        axis.generate({1, 40000}, QLocale::c(), 'g', 6, ticks, nullptr, &labels);
        EXPECT_EQ(ticks.size(), 16) << "each keeps its tick";
        EXPECT_EQ(labels.back(), "32768");
        labels.removeAll(QString());
        return labels;
    };
    EXPECT_EQ(texts(3000).size(), 16);
    EXPECT_LT(texts(200).size(), 12);
    EXPECT_GT(texts(200).size(), 2);
}

TEST(KernelCharts, AKernelOfOnesOwnIsShownFirstUntilAnotherIsChosen) {
    KernelCharts charts;
    std::vector<SweepRow> rows = sweepRows();
    charts.setPlan({{"kernel", "/somewhere/my_norm.cpp"}});
    charts.show({}, rows);
    EXPECT_EQ(charts.view().variant, "fused") << "nothing of it has been measured yet";
    for (SweepRow row : sweepRows()) {
        if (row.variant != "fused") continue;
        row.variant = "my_norm";
        rows.push_back(row);
    }
    charts.show({}, rows);
    EXPECT_EQ(charts.view().variant, "my_norm");
    for (QComboBox* box : charts.findChildren<QComboBox*>())
        if (box->currentText() == "my_norm") box->setCurrentText("native");
    charts.setPlan({{"kernel", "/somewhere/my_norm.cpp"}});
    charts.show({}, rows);
    EXPECT_EQ(charts.view().variant, "native") << "the next version is looked at as the last was";
    charts.setPlan({{"kernel", "/somewhere/other.cpp"}});
    charts.setPlan({{"kernel", "/somewhere/my_norm.cpp"}});
    charts.show({}, rows);
    EXPECT_EQ(charts.view().variant, "my_norm");
}

TEST(KernelCharts, NativeIsShownOnlyWhereItIsChosenOrAllThereIs) {
    KernelCharts charts;
    std::vector<SweepRow> rows = sweepRows(), native = rows, strange = rows;
    std::erase_if(native, [](const SweepRow& row) { return row.variant != "native"; });
    for (SweepRow& row : strange)
        if (row.variant == "fused") row.variant = "mine";
    charts.show({}, native);
    EXPECT_EQ(charts.view().variant, "native") << "the first cells of a sweep";
    charts.show({}, strange);
    EXPECT_EQ(charts.view().variant, "mine");
    charts.show({}, rows);
    EXPECT_EQ(charts.view().variant, "fused");
    for (QComboBox* box : charts.findChildren<QComboBox*>())
        if (box->currentText() == "fused") box->setCurrentText("native");
    charts.show({}, rows);
    EXPECT_EQ(charts.view().variant, "native");
}

TEST(SpeedupPlot, PaintsItsLinesInEveryFormat) {
    SpeedupPlot chart;
    chart.resize(500, 300);
    const QImage before = chart.grab().toImage();
    chart.setLines(speedupLines(sweepRows(), kFused));
    EXPECT_NE(before, chart.grab().toImage());
    QTemporaryDir folder;
    for (const char* name : {"a.png", "a.svg", "a.pdf"}) EXPECT_TRUE(savePicture(chart, folder.filePath(name)).ok());
}

TEST(KernelsPage, ShowsASavedSweepAndFollowsAClickInTheGridToItsRow) {
    TestWindow window("/nowhere/kernelscope-engine");
    const std::string id = storeSweep(*window->services().store);
    window->openRun(toQt(id));
    KernelsPage* page = window->kernelsPage();
    ASSERT_TRUE(waitFor([&] { return page->showsSaved() && page->kernelCharts()->grid()->isVisible(); }));
    EXPECT_TRUE(page->headline()->text().startsWith("rms_norm: fused is 4.00x faster")) << qPrintable(page->headline()->text());
    EXPECT_EQ(page->table()->model()->rowCount(), 8);
    QTest::mouseClick(page->kernelCharts()->grid(), Qt::LeftButton, {}, page->kernelCharts()->grid()->cellRect(1, 1).center().toPoint());
    ASSERT_TRUE(page->table()->currentIndex().isValid());
    EXPECT_EQ(page->table()->currentIndex().siblingAtColumn(3).data().toString(), "3584");
    EXPECT_EQ(page->table()->currentIndex().siblingAtColumn(4).data().toString(), "64");
    // The cell's samples and the command that measures it again.
    ASSERT_TRUE(page->details()->isVisible());
    ASSERT_TRUE(waitFor([&] { return page->details()->histogram()->count() == 5; }));
    EXPECT_DOUBLE_EQ(page->details()->histogram()->median(), 3);
    // The other pictures of the same cell; this run kept none of what they show, and says so instead of drawing nothing.
    for (const char* picture : {"errors", "roofline", "speedup"}) {
        page->kernelCharts()->pictures()->setValue(picture);
        EXPECT_EQ(page->kernelCharts()->errors()->isVisible(), std::string(picture) == "errors");
        EXPECT_EQ(page->kernelCharts()->roofline()->isVisible(), std::string(picture) == "roofline");
    }
    EXPECT_EQ(page->details()->command(), "kernelscope-cli sweep --op rms_norm --variant native,fused --dtypes float16 --hidden 3584 --rows 64 --cache cold");
}

}  // namespace
}  // namespace kernelscope::ui
