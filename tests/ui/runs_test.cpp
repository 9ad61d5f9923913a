// What a user does with kept runs: notes, tags, pins, deletion with undo, comparison, reports.

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QTest>

#include "ui/charts/ratio_chart.h"
#include "ui/pages/compare_panel.h"
#include "ui/pages/runs_page.h"
#include "ui/services/run_library.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/table_view.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

struct RunsWindow : TestWindow {
    RunsWindow() : TestWindow("/nowhere/kernelscope-engine") {
        first = storeProfile(*(*this)->services().store, "Model-a", 2);
        second = storeProfile(*(*this)->services().store, "Model-a", 1);
        (*this)->showPage("Runs");
        listed = waitFor([this] { return page()->model()->rowCount() == 2; });
    }
    RunsPage* page() { return (*this)->runsPage(); }
    void select(int row) { page()->table()->setCurrentIndex(page()->table()->model()->index(row, 0)); }
    std::string first, second;
    bool listed = false;
};

TEST(Runs, ANoteAndTagsAreKeptWhenTheFieldIsLeft) {
    RunsWindow window;
    ASSERT_TRUE(window.listed);
    window.select(0);
    const std::string id = fromQt(window.page()->selectedIds().front());
    window.page()->noteEdit()->setFocus();
    QTest::keyClicks(window.page()->noteEdit(), "after the change");
    QTest::keyClick(window.page()->noteEdit(), Qt::Key_Return);
    window.page()->tagsEdit()->setFocus();
    QTest::keyClicks(window.page()->tagsEdit(), "fast, h200");
    QTest::keyClick(window.page()->tagsEdit(), Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] {
        const auto run = window->services().store->run(id);
        return run.ok() && run->note == "after the change" && run->tags == std::vector<std::string>{"fast", "h200"};
    }));
}

TEST(Runs, RepeatsOfOneCommandAreComparedTogetherAndTheComparisonIsPrintedAndExported) {
    TestWindow window(kNoEngine);
    Store& store = *window->services().store;
    std::vector<std::string> before, after;
    for (const double scale : {1.0, 1.01, 0.99}) {
        before.push_back(storeProfile(store, "Model-a", 2 * scale));
        after.push_back(storeProfile(store, "Model-b", scale));
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
        auto run = store.run(after[i])->header;
        run.when = "2027-01-01T00:00:00Z";
        run.model = "Model-a";  // the same measurement but for what its command says
        run.command += " --patch rms_norm=fused";
        ASSERT_TRUE(store.updateRun(run).ok());
    }
    window->showPage("Runs");
    RunsPage* page = window->runsPage();
    ASSERT_TRUE(waitFor([&] { return page->model()->rowCount() == 6; }));
    EXPECT_FALSE(page->comparisonShown());
    page->table()->selectAll();
    QTest::mouseClick(page->compareButton(), Qt::LeftButton);
    ComparePanel* panel = page->comparePanel();
    ASSERT_TRUE(waitFor([&] { return panel->isVisible(); }));
    ASSERT_EQ(panel->comparison()->runs.size(), 2u);
    EXPECT_NE(panel->comparison()->runs[0].header.id.find(','), std::string::npos) << panel->comparison()->runs[0].header.id;
    EXPECT_EQ(panel->comparison()->rows.front().verdict, "faster");
    ASSERT_TRUE(page->comparisonShown());
    EXPECT_NE(page->comparisonShown()(ExportFormat::markdown).find("# Comparison"), std::string::npos);
    EXPECT_EQ(page->charts().size(), 1);
}

TEST(Runs, AreListedByTheirTimeWhichTheHeaderSays) {
    TestWindow window(kNoEngine);
    Store& store = *window->services().store;
    storeProfile(store, "New");
    auto old = store.run(storeProfile(store, "Imported"))->header;
    old.when = "2020-01-01T00:00:00Z";
    ASSERT_TRUE(store.updateRun(old).ok());
    window->showPage("Runs");
    RunsPage* page = window->runsPage();
    ASSERT_TRUE(waitFor([&] { return page->model()->rowCount() == 2; }));
    EXPECT_EQ(page->model()->rows().back().header.model, "Imported") << "imported last, and the oldest";
    EXPECT_EQ(page->table()->header()->sortIndicatorSection(), 0);
    EXPECT_EQ(page->table()->header()->sortIndicatorOrder(), Qt::DescendingOrder);
}

TEST(Runs, DeletionCanBeUndone) {
    RunsWindow window;
    ASSERT_TRUE(window.listed);
    window.select(0);
    QTest::mouseClick(window.page()->deleteButton(), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return window.page()->model()->rowCount() == 1; }));
    ASSERT_TRUE(window.page()->banner()->isVisible());
    QTest::mouseClick(window.page()->banner()->actionButton(), Qt::LeftButton);
    EXPECT_TRUE(waitFor([&] { return window.page()->model()->rowCount() == 2; }));
}

TEST(Runs, TwoAreComparedWithThePinnedOneAsBaseline) {
    RunsWindow window;
    ASSERT_TRUE(window.listed);
    window->services().library->edit([id = window.first](Store& store) { return store.setPinned(id, true); });
    ASSERT_TRUE(waitFor([&] {
        const auto& rows = window.page()->model()->rows();
        return std::any_of(rows.begin(), rows.end(), [](const RunSummary& run) { return run.pinned; });
    }));
    window.page()->table()->selectAll();
    ASSERT_TRUE(window.page()->compareButton()->isEnabled());
    QTest::mouseClick(window.page()->compareButton(), Qt::LeftButton);
    ComparePanel* panel = window.page()->comparePanel();
    ASSERT_TRUE(waitFor([&] { return panel->isVisible(); }));
    ASSERT_FALSE(panel->chart()->bars().empty());
    EXPECT_NEAR(panel->chart()->bars().front().ratio, 2, 1e-9) << "the second run takes half the time of the pinned one";
    EXPECT_GT(panel->table()->model()->rowCount(), 7);
    EXPECT_EQ(panel->document(ExportFormat::csv).rfind("kind,key,metric", 0), 0u);
    EXPECT_NE(panel->document(ExportFormat::html).find("kernelscope-cli compare " + window.first + " " + window.second), std::string::npos);
}

TEST(Runs, TwoWindowsAndACommandLineOnOneStoreLoseNothing) {
    RunsWindow first;
    ASSERT_TRUE(first.listed);
    MainWindow second({.settingsFile = first.path("second.ini"), .store = first.storePath(), .engine = "/nowhere/kernelscope-engine"});
    second.show();
    second.showPage("Runs");
    ASSERT_TRUE(waitFor([&] { return second.runsPage()->model()->rowCount() == 2; }));
    const std::string id = first.first;
    // All three at once, and again and again.
    std::vector<std::unique_ptr<QProcess>> commands;
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
        commands.push_back(std::make_unique<QProcess>());
        commands.back()->start(QCoreApplication::applicationDirPath() + "/kernelscope-cli",
                               {"runs", "note", toQt(id), QString("note %1").arg(round), "--store", QString::fromStdU16String(first.storePath().u16string())});
        first->services().library->edit([id, round](Store& store) { return store.setTags(id, {"tag" + std::to_string(round)}); });
        second.services().library->edit([id, round](Store& store) {
            RunHeader header = profileHeader("of the second window");
            header.id = "second" + std::to_string(round);
            if (const auto made = store.createRun(header); !made) return Result<void>(made.error());
            return store.setPinned(id, round % 2 == 1);
        });
    }
    for (const auto& command : commands) {
        ASSERT_TRUE(waitFor([&] { return command->state() == QProcess::NotRunning; }, 60'000));
        EXPECT_EQ(command->exitCode(), 0) << command->readAllStandardError().toStdString();
    }
    const auto& store = *first->services().store;
    ASSERT_TRUE(waitFor([&] { return store.runs()->size() == 2 + kRounds && store.run(id)->tags == std::vector<std::string>{"tag9"} && store.run(id)->pinned; }));
    EXPECT_TRUE(store.run(id)->note.starts_with("note "));
    EXPECT_EQ(store.rows(id, "profile")->size(), 10u);
    first->showPage("Profile");
    first->showPage("Runs");
    EXPECT_TRUE(waitFor([&] { return first.page()->model()->rowCount() == 2 + kRounds && second.runsPage()->model()->rowCount() == 2 + kRounds; }));
}

TEST(Runs, AReportIsWrittenFromTheStore) {
    RunsWindow window;
    ASSERT_TRUE(window.listed);
    const QString file = window.path("report.html");
    window->services().library->exportTo(toQt(window.first), ExportFormat::html, file);
    ASSERT_TRUE(waitFor([&] { return QFile::exists(file); }));
    QFile in(file);
    ASSERT_TRUE(in.open(QIODevice::ReadOnly));
    EXPECT_TRUE(in.readAll().contains("Attention"));
}

TEST(ComparePanel, BeginsWithAFigureOfWhichSomethingCanBeTold) {
    auto comparison = std::make_shared<Comparison>();
    comparison->runs.resize(2);
    const auto row = [](const char* name, const char* metric, double ratio, const char* verdict) {
        return CompareRow{.kind = "profile", .key = std::string("decode|type|") + name, .metric = metric, .unit = "us", .baseline = ratio, .candidate = 1, .ratio = ratio, .verdict = verdict};
    };
    comparison->rows = {row("MLP", "span_us", 1.1, "cant_tell"), row("MLP", "gpu_us", 2, "faster")};
    ComparePanel panel;
    panel.show(comparison);
    EXPECT_EQ(panel.headline()->text(), "1 of 1 rows faster, 0 slower");
    comparison->rows[1].verdict = "cant_tell";
    panel.show(comparison);
    EXPECT_DOUBLE_EQ(panel.chart()->bars().front().ratio, 1.1) << "nothing can be told: the first figure";
}

TEST(CompareTable, HoldsTheModelContract) {
    CompareTable table(compareColumns());
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    table.append({{.kind = "profile", .key = "decode|type|MLP", .metric = "span_us", .unit = "us", .baseline = 2, .candidate = 1, .ratio = 2, .verdict = "faster"}});
    EXPECT_EQ(table.index(0, 0).data().toString(), QString::fromUtf8("decode \u00b7 type \u00b7 MLP"));
    EXPECT_EQ(table.index(0, 7).data().toString(), "faster");
}

}  // namespace
}  // namespace kernelscope::ui
