// Runs that come from files, runs on paper, and runs too large to be held.

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPrinter>
#include <QScrollBar>
#include <QTableView>
#include <QTest>
#include <QTextDocument>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/client/export.h"
#include "core/records/rows.h"
#include "ui/model_line.h"
#include "ui/models/paged_rows.h"
#include "ui/pages/large_run_panel.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/services/print_run.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

/// A run exported from a store of its own, as a file.
QString exportedRun(const TestWindow& window, const QString& name) {
    auto store = Store::open(":memory:");
    const std::string id = storeProfile(**store, "Model-of-a-file");
    QFile file(window.path(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(*kernelscope::exportRun(**store, id, ExportFormat::json)));
    return file.fileName();
}

QMenu* menuNamed(MainWindow& window, const QString& title) {
    for (QMenu* menu : window.menuBar()->findChildren<QMenu*>()) {
        if (menu->title() == title) return menu;
    }
    return nullptr;
}

TEST(RunFiles, AFileGivenToTheProgramJoinsTheStoreAndIsShown) {
    TestWindow first(kNoEngine);
    const QString file = exportedRun(first, "a run ä.json");
    MainWindow window({.settingsFile = first.path("w.ini"), .store = first.storePath(), .engine = kNoEngine, .open = file});
    window.show();
    ASSERT_TRUE(waitFor([&] { return window.profilePage()->showsSaved(); }));
    EXPECT_TRUE(window.profilePage()->headline()->text().contains("Decode"));
    EXPECT_EQ(window.services().store->runs()->size(), 1u);
    QMenu* recent = menuNamed(window, "Recent ru&ns");
    ASSERT_NE(recent, nullptr);
    ASSERT_EQ(recent->actions().size(), 1);
    EXPECT_TRUE(recent->actions().front()->text().contains("Model-of-a-file"));
    window.showPage("Runs");
    recent->actions().front()->trigger();
    EXPECT_TRUE(waitFor([&] { return window.currentPage() == window.profilePage(); }));
}

TEST(RunFiles, WhatIsDroppedIsOpenedAndWhatIsNoRunIsSaid) {
    TestWindow window(kNoEngine);
    const auto drop = [&](const QString& path) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&*window, &enter);
        EXPECT_TRUE(enter.isAccepted()) << qPrintable(path);
        QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&*window, &event);
    };
    drop(exportedRun(window, "run.json"));
    ASSERT_TRUE(waitFor([&] { return window->profilePage()->showsSaved(); }));
    std::ofstream(window.path("none.json").toStdString()) << "{}";
    window->profilePage()->errorBanner()->hide();
    drop(window.path("none.json"));
    ASSERT_TRUE(waitFor([&] { return window->profilePage()->errorBanner()->isVisible(); }));
    EXPECT_TRUE(window->profilePage()->errorBanner()->message().contains("none.json"));
    QDir().mkpath(window.path("a model"));
    std::ofstream(window.path("a model/config.json").toStdString()) << "{}";
    drop(window.path("a model/config.json"));
    EXPECT_TRUE(toQt(window->modelLine()->choice().model).endsWith("a model"));
}

TEST(RunFiles, ARunBecomesAPdfWithItsChartsAndItsTable) {
    TestWindow window(kNoEngine);
    const std::string id = storeProfile(*window->services().store, "Printed-model");
    window->openRun(toQt(id));
    ASSERT_TRUE(waitFor([&] { return window->profilePage()->showsSaved(); }));
    QTextDocument document;
    fillPrintout(document, *kernelscope::exportRun(*window->services().store, id, ExportFormat::markdown), window->profilePage()->charts());
    EXPECT_TRUE(document.toPlainText().contains("Printed-model"));
    EXPECT_TRUE(document.toPlainText().contains("Attention"));
    EXPECT_TRUE(document.toPlainText().contains("kernelscope-cli profile"));
    EXPECT_FALSE(document.resource(QTextDocument::ImageResource, QUrl("chart:0")).isNull());
    QPrinter printer(QPrinter::HighResolution);
    printer.setOutputFormat(QPrinter::PdfFormat);
    printer.setPageOrientation(QPageLayout::Landscape);
    printer.setOutputFileName(window.path("run.pdf"));
    document.print(&printer);
    QFile pdf(window.path("run.pdf"));
    ASSERT_TRUE(pdf.open(QIODevice::ReadOnly));
    EXPECT_TRUE(pdf.read(5).startsWith("%PDF"));
    EXPECT_GT(pdf.size(), 20'000);
    const QString kept = qEnvironmentVariable("KERNELSCOPE_TEST_PICTURES");
    if (!kept.isEmpty()) pdf.copy(kept + "/run.pdf");
}

TEST(RunFiles, WhatIsPrintedIsLightInADarkWindowWhichStaysDark) {
    TestWindow window(kNoEngine);
    window->setScheme(Scheme::dark);
    const std::string id = storeProfile(*window->services().store, "Printed-model");
    window->openRun(toQt(id));
    ASSERT_TRUE(waitFor([&] { return window->profilePage()->showsSaved(); }));
    QWidget* bars = window->profilePage()->charts().front();
    QTextDocument document;
    fillPrintout(document, "# A run\n\n| a |\n| - |\n| 1 |\n", window->profilePage()->charts());
    const QImage chart = document.resource(QTextDocument::ImageResource, QUrl("chart:0")).value<QImage>();
    ASSERT_FALSE(chart.isNull());
    EXPECT_EQ(chart.pixelColor(0, 0), QColor(Qt::white));
    int dark = 0;
    for (int y = 0; y < chart.height(); y += 4)
        for (int x = 0; x < chart.width(); x += 4) dark += qGray(chart.pixel(x, y)) < 60;
    EXPECT_GT(dark, 0) << "letters are dark";
    EXPECT_LT(dark, chart.width() * chart.height() / 16 / 5) << "and few";
    EXPECT_LT(bars->grab().toImage().pixelColor(0, 0).lightness(), 60);
    window->setScheme(Scheme::light);
    EXPECT_GT(bars->grab().toImage().pixelColor(0, 0).lightness(), 200) << "it follows the scheme as before";
}

/// Resident memory of this process, in MiB.
double residentMiB() {
    std::ifstream in("/proc/self/statm");
    double total = 0, resident = 0;
    in >> total >> resident;
    return resident * 4096 / (1 << 20);
}

TEST(LargeRuns, AMillionRowsOpenInUnderTwoSecondsAndLittleMemory) {
    TestWindow window(kNoEngine);
    Store& store = *window->services().store;
    const std::string id = storeSweep(store);
    SQLite::Database raw(window.storePath().string(), SQLite::OPEN_READWRITE);
    raw.exec("INSERT INTO rows_sweep (_run, _place, _key, op, variant, dtype, hidden, rows, cache, status, device_us) "
             "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1000099) "
             "SELECT (SELECT number FROM runs WHERE id = '" + id + "'), i, 'k' || i, 'rms_norm', 'v' || (i % 7), 'float16', 896, i, 'cold', 'ok', i * 0.25 FROM n");
    const double before = residentMiB();
    const std::clock_t cpu = std::clock();
    window->openRun(toQt(id));
    LargeRunPanel* panel = window->runsPage()->largeRun();
    ASSERT_TRUE(waitFor([&] { return panel->isVisible() && panel->model()->pagesHeld() > 0; }, 20'000));
    const double seconds = double(std::clock() - cpu) / CLOCKS_PER_SEC;
    EXPECT_EQ(panel->model()->rowCount(), 1'000'100);
    // Through all of it: what was read is let go of again.
    for (int step = 1; step <= 60; ++step) {
        panel->table()->verticalScrollBar()->setValue(panel->table()->verticalScrollBar()->maximum() / 60 * step);
        const int row = panel->table()->rowAt(5);
        ASSERT_TRUE(waitFor([&] { return !panel->model()->index(row, 0).data().toString().isEmpty(); })) << "row " << row;
    }
    const QModelIndex last = panel->model()->index(1'000'099, 4);
    panel->table()->scrollTo(last);
    ASSERT_TRUE(waitFor([&] { return !last.data().toString().isEmpty(); }));
    EXPECT_LE(panel->model()->pagesHeld(), PagedRows::kMostPages);
    std::printf("a run of 1,000,100 rows: open after %.2f s of CPU time, %.0f MiB more memory after reading through it\n", seconds, residentMiB() - before);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LT(seconds, 2);
    EXPECT_LT(residentMiB() - before, 300);
#endif
}

TEST(LargeRuns, PagesHoldTheModelContractAndAnswersOfAnotherRunAreDropped) {
    PagedRows model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::vector<std::function<void(const std::vector<RowRecord>&)>> waiting;
    const auto later = [&](std::int64_t, std::int64_t, std::function<void(const std::vector<RowRecord>&)> done) { waiting.push_back(std::move(done)); };
    const RowType& type = *findRowType("sample");
    model.reset(type, 1000, later);
    EXPECT_FALSE(model.index(0, 0).data().isValid());
    EXPECT_FALSE(model.index(1, 0).data().isValid());
    ASSERT_EQ(waiting.size(), 1u) << "a page is asked for once";
    model.reset(type, 2, later);
    waiting[0](std::vector<RowRecord>(500, RowRecord{"sample", "", valuesOf(SampleRow{"old", "m", 0, 1})}));
    EXPECT_FALSE(model.index(0, 0).data().isValid());
    ASSERT_EQ(waiting.size(), 2u);
    waiting[1]({RowRecord{"sample", "", valuesOf(SampleRow{"new", "m", 0, 1})}, RowRecord{"sample", "", valuesOf(SampleRow{"new", "m", 1, 2})}});
    EXPECT_EQ(model.index(1, 0).data().toString(), "new");
}

}  // namespace
}  // namespace kernelscope::ui
