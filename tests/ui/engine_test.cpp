// The window with the real engine, on the CPU, by real clicks.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <set>

#include <QApplication>
#include <QComboBox>
#include <QCryptographicHash>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "core/records/csv.h"
#include "ui/charts/share_bars.h"
#include "ui/model_line.h"
#include "ui/pages/profile_controls.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/rail.h"
#include "ui/services/engine_adapter.h"
#include "ui/stall_watch.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/segmented.h"
#include "real_window.h"
#include "tests/support/listening.h"

namespace kernelscope::ui {
namespace {

using namespace test;

TEST(RealEngine, ProfilesTheModelWithBarsThatGrowFromTheFirstPassAndExportsWhatTheStoreHolds) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    ProfilePage* page = window.page();
    std::set<QByteArray> states;
    std::int64_t doneAtFirst = -1, lastDone = 0;
    std::optional<std::string> sockets;
    QObject::connect(window->services().engine, &EngineAdapter::progressed, page, [&](const Progress& progress) {
        lastDone = progress.done;
        if (!sockets) sockets = kernelscope::test::listeningSockets(QCoreApplication::applicationPid());
    });
    QObject::connect(page, &JobPage::renderedLive, page, [&] {
        if (!page->running()) return;
        if (doneAtFirst < 0) doneAtFirst = lastDone;
        if (states.size() < 12) states.insert(picture(page->bars()));
    });
    page->controls()->passes()->setValue(30);
    window.click();
    EXPECT_EQ(page->runButton()->text(), "Cancel");
    ASSERT_TRUE(window.finish());
    EXPECT_FALSE(page->errorBanner()->isVisible()) << qPrintable(page->errorBanner()->message());
    std::printf("%zu distinct painted states before the job finished; the first when %lld passes were reported\n", states.size(),
                static_cast<long long>(doneAtFirst));
    EXPECT_GE(states.size(), 5u);
    EXPECT_EQ(sockets, "") << "nobody can connect to a window that measures";
    // Progress counts the first call and the warm-up too; then measured and plain passes take turns.
    const auto warmup = page->exportable()->header().settings.value("warmup", 10);
    EXPECT_LE(doneAtFirst, 1 + warmup + 2);
    EXPECT_TRUE(page->headline()->text().startsWith("Decode")) << qPrintable(page->headline()->text());
    EXPECT_TRUE(page->subline()->text().contains("Random weights"));

    // Again: the button is itself, and a second run becomes a second run.
    ASSERT_EQ(page->runButton()->text(), "Profile model");
    window.click();
    ASSERT_TRUE(window.finish());
    const auto runs = window->services().store->runs();
    ASSERT_TRUE(runs.ok());
    ASSERT_EQ(runs->size(), 2u);
    EXPECT_EQ(runs->front().header.status, RunStatus::done);
    EXPECT_EQ(runs->front().header.weights, "random");

    QTest::keyClick(&*window, Qt::Key_E, Qt::ControlModifier);
    const QString file = window.path("profile.csv");
    ASSERT_NO_FATAL_FAILURE(chooseFile(file));
    ASSERT_TRUE(waitFor([&] { return QFile::exists(file); }));
    QFile in(file);
    ASSERT_TRUE(in.open(QIODevice::ReadOnly));
    const auto rows = window->services().store->rows(runs->front().header.id, "profile");
    ASSERT_TRUE(rows.ok());
    ASSERT_FALSE(rows->empty());
    std::vector<Values> values;
    for (const RowRecord& record : *rows) values.push_back(record.values);
    EXPECT_EQ(in.readAll().toStdString(), csvDocument(rowTypeOf<ProfileRow>(), values));
}

TEST(RealEngine, CancelsWithinASecondKeepsWhatItHadAndRunsAgain) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    ProfilePage* page = window.page();
    page->controls()->passes()->setValue(100000);
    window.click();
    ASSERT_TRUE(waitFor([&] { return page->exportable() != nullptr; }, 60'000));
    QElapsedTimer timer;
    timer.start();
    window.click();
    ASSERT_TRUE(waitFor([&] { return !page->running(); }, 10'000));
    std::printf("cancelled after %lld ms\n", static_cast<long long>(timer.elapsed()));
    EXPECT_LT(timer.elapsed(), 1500);  // a second of grace, and what a busy machine adds
    EXPECT_FALSE(page->errorBanner()->isVisible());
    EXPECT_NE(page->exportable(), nullptr);
    EXPECT_EQ(page->exportable()->header().status, RunStatus::cancelled);
    page->controls()->passes()->setValue(5);
    window.click();
    ASSERT_TRUE(window.finish());
    EXPECT_EQ(page->exportable()->header().status, RunStatus::done);
}

TEST(RealEngine, NoHandlerHoldsTheWindowForAFrameWhileAJobRuns) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    ProfilePage* page = window.page();
    page->controls()->setLevel("leaf");
    page->controls()->passes()->setValue(40);
    // The first pictures load fonts and icons: that is the start, not the job.
    window.click();
    ASSERT_TRUE(window.finish());
    auto* application = static_cast<WatchedApplication*>(qApp);
    application->startWatching();
    QElapsedTimer timer;
    timer.start();
    window.click();
    ASSERT_TRUE(window.finish());
    const auto worst = application->worst();
    std::printf("worst handler %.1f ms of CPU time (%s, event %d); %.0f ms of GUI thread in %lld ms\n", worst.milliseconds,
                qPrintable(worst.receiver), worst.eventType, application->totalMilliseconds(), static_cast<long long>(timer.elapsed()));
    EXPECT_LT(worst.milliseconds, 16);
}

TEST(RealEngine, KilledInTheMiddleOfARunIsSaidAndTheNextRunStartsANewOne) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    ProfilePage* page = window.page();
    page->controls()->passes()->setValue(100000);
    window.click();
    ASSERT_TRUE(waitFor([&] { return page->exportable() != nullptr; }, 60'000));
    // The engine is a child of this process: the one that carries its name.
    QProcess find;
    find.start("pgrep", {"-P", QString::number(QCoreApplication::applicationPid()), "kernelscope-eng"});
    ASSERT_TRUE(find.waitForFinished());
    const auto pid = find.readAllStandardOutput().trimmed().toInt();
    ASSERT_GT(pid, 0);
    ::kill(pid, SIGKILL);
    ASSERT_TRUE(waitFor([&] { return !page->running(); }, 30'000));
    EXPECT_TRUE(page->errorBanner()->isVisible());
    EXPECT_NE(page->exportable(), nullptr) << "what had arrived stays";
    page->controls()->passes()->setValue(5);
    window.click();
    ASSERT_TRUE(waitFor([&] { return !page->running(); }, kEngineStartMs));
    EXPECT_EQ(page->exportable()->header().status, RunStatus::done) << qPrintable(page->errorBanner()->message());
}

TEST(RealEngine, AFolderThatIsNoModelIsRefusedInWordsWithAWayToAnother) {
    RealWindow window("mit Leerzeichen und äöü 模型");
    ASSERT_TRUE(window.ready);
    QDir().mkpath(window.path("kein Modell"));
    window->openModelFolder(window.path("kein Modell"));
    window.click();
    ASSERT_TRUE(window.finish());
    Banner* banner = window.page()->errorBanner();
    ASSERT_TRUE(banner->isVisible());
    EXPECT_TRUE(banner->message().contains("kein Modell")) << qPrintable(banner->message());
    EXPECT_TRUE(banner->actionButton()->isVisible());
    // The window lives: the tiny model runs right after, into the same store with letters of all kinds in its path.
    window->modelLine()->setModel("qwen2.5-tiny");
    window.page()->controls()->passes()->setValue(5);
    window.click();
    ASSERT_TRUE(window.finish());
    EXPECT_FALSE(banner->isVisible()) << qPrintable(banner->message());
    EXPECT_NE(window.page()->exportable(), nullptr);
}

}  // namespace
}  // namespace kernelscope::ui
