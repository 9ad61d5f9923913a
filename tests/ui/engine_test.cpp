// The window with the real engine, on the CPU, by real clicks.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
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
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;
constexpr int kEngineStartMs = 120'000;  // loads 3 GB of libraries from a cold disk

QString engineToTest() { return qEnvironmentVariable("KERNELSCOPE_TEST_ENGINE", builtEngine()); }

/// A window whose engine has said hello, set to the tiny model on the CPU.
struct RealWindow : TestWindow {
    explicit RealWindow(const QString& folder = "data") : TestWindow(engineToTest(), folder) {
        (*this)->modelLine()->setModel("qwen2.5-tiny");
        ready = waitFor([this] { return (*this)->services().engine->hello().has_value(); }, kEngineStartMs);
        auto* devices = (*this)->modelLine()->findChild<QComboBox*>("Device");
        const int cpu = devices->findData("cpu");
        if (cpu >= 0) devices->setCurrentIndex(cpu);
    }
    ProfilePage* page() { return (*this)->profilePage(); }
    void click() { QTest::mouseClick(page()->runButton(), Qt::LeftButton); }
    bool finish() { return waitFor([this] { return !page()->running(); }, 120'000); }
    bool ready = false;
};

QByteArray picture(QWidget* widget) {
    const QImage image = widget->grab().toImage();
    return QCryptographicHash::hash(QByteArrayView(image.constBits(), image.sizeInBytes()), QCryptographicHash::Md5);
}

void chooseFile(const QString& file) {
    ASSERT_TRUE(waitFor([] { return QApplication::activeModalWidget() != nullptr; }));
    auto* edit = QApplication::activeModalWidget()->findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(edit, nullptr);
    edit->setText(file);
    QTest::keyClick(edit, Qt::Key_Return);
    ASSERT_TRUE(waitFor([] { return QApplication::activeModalWidget() == nullptr; }));
}

TEST(RealEngine, ProfilesTheModelWithBarsThatGrowFromTheFirstPassAndExportsWhatTheStoreHolds) {
    RealWindow window;
    ASSERT_TRUE(window.ready);
    ProfilePage* page = window.page();
    std::set<QByteArray> states;
    std::int64_t doneAtFirst = -1, lastDone = 0;
    QObject::connect(window->services().engine, &EngineAdapter::progressed, page, [&](const Progress& progress) { lastDone = progress.done; });
    QObject::connect(page, &JobPage::renderedLive, page, [&] {
        if (!page->running()) return;
        if (doneAtFirst < 0) doneAtFirst = lastDone;
        if (states.size() < 12) states.insert(picture(page->bars()));
    });
    window.click();
    EXPECT_EQ(page->runButton()->text(), "Cancel");
    ASSERT_TRUE(window.finish());
    EXPECT_FALSE(page->errorBanner()->isVisible()) << qPrintable(page->errorBanner()->message());
    std::printf("%zu distinct painted states before the job finished; the first when %lld passes were reported\n", states.size(),
                static_cast<long long>(doneAtFirst));
    EXPECT_GE(states.size(), 5u);
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
    page->controls()->passes()->setValue(100);
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
