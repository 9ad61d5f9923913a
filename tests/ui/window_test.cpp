// The window without any engine: what it paints first, what it says when things are missing, saved runs.

#include <gtest/gtest.h>

#include <QApplication>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QButtonGroup>
#include <QComboBox>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "core/records/csv.h"
#include "ui/charts/share_bars.h"
#include "ui/model_line.h"
#include "ui/pages/compare_panel.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/rail.h"
#include "ui/services/run_library.h"
#include "ui/text.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/engine_bar.h"
#include "ui/widgets/hub_bar.h"
#include "ui/widgets/table_view.h"
#include "ui_support.h"

namespace kernelscope::ui {
namespace {

using namespace test;

/// Types a name into the file dialog that is open and accepts it.
void chooseFile(const QString& file) {
    ASSERT_TRUE(waitFor([] { return QApplication::activeModalWidget() != nullptr; }));
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    auto* edit = dialog->findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(edit, nullptr);
    edit->setText(file);
    QTest::keyClick(edit, Qt::Key_Return);
    ASSERT_TRUE(waitFor([] { return QApplication::activeModalWidget() == nullptr; }));
}

TEST(Window, OfTheProgramAsItStartsIsPaintedWithinHalfASecond) {
    const QString program = QCoreApplication::applicationDirPath() + "/kernelscope";
    ASSERT_TRUE(QFile::exists(program)) << qPrintable(program);
    QTemporaryDir folder;
    double best = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
        QProcess process;
        QElapsedTimer timer;
        timer.start();
        process.start(program, {"--time-first-paint", "--settings", folder.filePath("s.ini"), "--store", folder.filePath("s.sqlite")});
        ASSERT_TRUE(process.waitForFinished(20000));
        const double whole = double(timer.elapsed());  // with the process's own start and end
        const QString said = process.readAllStandardOutput();
        ASSERT_TRUE(said.startsWith("first paint after")) << qPrintable(said + process.readAllStandardError());
        std::printf("%s (%.0f ms with the process's start and end)\n", qPrintable(said.trimmed()), whole);
        // Held to on any machine: the time of its own CPU. The wall's clock is printed, and tells the same on an idle one.
        best = std::min({best, whole, said.section("ms, ", 1).section(' ', 0, 0).toDouble()});
    }
    EXPECT_LT(best, 500);
    EXPECT_GT(best, 0);
}

TEST(Window, WithoutAnEngineSaysSoInThePageAndOffersTheSettings) {
    TestWindow window(kNoEngine);
    Banner* banner = window->profilePage()->errorBanner();
    ASSERT_TRUE(waitFor([&] { return banner->isVisible(); }));
    EXPECT_TRUE(banner->message().contains("kernelscope-engine")) << qPrintable(banner->message());
    ASSERT_TRUE(banner->actionButton()->isVisible());
    QTest::mouseClick(banner->actionButton(), Qt::LeftButton);
    EXPECT_TRUE(window->engineBar()->isVisible());
    // Asking for a job all the same ends in the same words, and the button is itself again.
    QTest::mouseClick(window->profilePage()->runButton(), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return !window->profilePage()->running(); }));
    EXPECT_TRUE(banner->isVisible());
    EXPECT_EQ(window->profilePage()->runButton()->text(), "Profile model");
    EXPECT_TRUE(window->profilePage()->runButton()->isEnabled());
}

TEST(Window, ShowsASavedRunReadOnlyAndGoesBack) {
    TestWindow window(kNoEngine);
    const std::string id = storeProfile(*window->services().store, "Saved-model");
    ASSERT_FALSE(id.empty());
    QTest::keyClick(&*window, Qt::Key_5, Qt::AltModifier);
    RunsPage* runs = window->runsPage();
    ASSERT_TRUE(waitFor([&] { return runs->model()->rowCount() == 1; }));
    const QRect row = runs->table()->visualRect(runs->table()->model()->index(0, 0));
    QTest::mouseClick(runs->table()->viewport(), Qt::LeftButton, {}, row.center());
    QTest::mouseDClick(runs->table()->viewport(), Qt::LeftButton, {}, row.center());
    ProfilePage* page = window->profilePage();
    ASSERT_TRUE(waitFor([&] { return window->currentPage() == page && page->showsSaved(); }));
    EXPECT_TRUE(page->savedBanner()->isVisible());
    EXPECT_TRUE(page->savedBanner()->message().contains("Saved run"));
    EXPECT_EQ(page->bars()->bars().size(), 8u);
    EXPECT_TRUE(page->headline()->text().contains("Decode")) << qPrintable(page->headline()->text());
    EXPECT_TRUE(page->subline()->text().contains("Random weights"));
    QTest::mouseClick(page->savedBanner()->actionButton(), Qt::LeftButton);
    EXPECT_FALSE(page->showsSaved());
    EXPECT_FALSE(page->savedBanner()->isVisible());
    EXPECT_EQ(page->exportable(), nullptr);
}

TEST(Window, FiltersTheTableByTheBarThatIsClickedAndSaysSoInAChip) {
    TestWindow window(kNoEngine);
    window->openRun(toQt(storeProfile(*window->services().store, "Saved-model", 1, true)));
    ProfilePage* page = window->profilePage();
    ASSERT_TRUE(waitFor([&] { return page->showsSaved() && page->bars()->isVisible(); }));
    ASSERT_EQ(page->table()->model()->rowCount(), 10);
    QTest::mouseClick(page->bars(), Qt::LeftButton, {}, QPoint(200, 10));
    ASSERT_EQ(page->table()->model()->rowCount(), 1);
    EXPECT_EQ(page->table()->model()->index(0, 0).data().toString(), "Attention");
    QPushButton* chip = nullptr;
    for (auto* button : page->findChildren<QPushButton*>()) {
        if (button->isVisible() && button->text().startsWith("Attention")) chip = button;
    }
    ASSERT_NE(chip, nullptr);
    QTest::mouseClick(chip, Qt::LeftButton);
    EXPECT_EQ(page->table()->model()->rowCount(), 10);
}

TEST(Window, ExportsASavedRunThroughTheDialogAndTheFileEqualsTheStore) {
    TestWindow window(kNoEngine, "Ordner mit Umlaut äöü 模型");
    const std::string id = storeProfile(*window->services().store, "Saved-model");
    window->openRun(toQt(id));
    ASSERT_TRUE(waitFor([&] { return window->profilePage()->showsSaved(); }));
    ASSERT_TRUE(window->exportButton()->isEnabled());
    QTest::keyClick(&*window, Qt::Key_E, Qt::ControlModifier);
    const QString file = window.path("out.csv");
    ASSERT_NO_FATAL_FAILURE(chooseFile(file));
    ASSERT_TRUE(waitFor([&] { return QFile::exists(file); }));
    QFile in(file);
    ASSERT_TRUE(in.open(QIODevice::ReadOnly));
    std::vector<Values> values;
    const auto rows = window->services().store->rows(id, "profile");
    ASSERT_TRUE(rows.ok());
    for (const RowRecord& record : *rows) values.push_back(record.values);
    EXPECT_EQ(in.readAll().toStdString(), csvDocument(rowTypeOf<ProfileRow>(), values));
}

TEST(Window, AStoreThatCannotBeOpenedIsSaidAndTheWindowLives) {
    QTemporaryDir folder;
    QFile broken(folder.filePath("runs.sqlite"));
    ASSERT_TRUE(broken.open(QIODevice::WriteOnly));
    broken.write(QByteArray(4096, 'x'));
    broken.close();
    MainWindow window({.settingsFile = folder.filePath("s.ini"), .store = std::filesystem::path(broken.fileName().toStdU16String()), .engine = kNoEngine});
    window.show();
    ASSERT_TRUE(waitFor([&] { return window.services().engine != nullptr; }));
    EXPECT_EQ(window.services().store, nullptr);
    EXPECT_TRUE(window.profilePage()->errorBanner()->isVisible());
}

TEST(Window, RemembersThePageTheModelAndTheScheme) {
    TestWindow window(kNoEngine);
    window->showPage("Runs");
    window->modelLine()->setModel("qwen2.5-7b");
    window->setScheme(Scheme::dark);
    window.open();
    EXPECT_EQ(window->currentPage(), window->runsPage());
    EXPECT_EQ(window->modelLine()->choice().model, "qwen2.5-7b");
    EXPECT_TRUE(Theme::of(QApplication::palette()).dark);
    window->setScheme(Scheme::light);
}

TEST(Window, EveryControlHasANameForScreenReadersAndIsReachedByTab) {
    TestWindow window(kNoEngine);
    const QString first = toQt(storeProfile(*window->services().store, "m")), second = toQt(storeProfile(*window->services().store, "m"));
    window->engineBar()->open({}, "standard");
    window->hubBar()->open({});
    // Every action of the menus: named, and reached by its letter or its keys.
    for (const QMenu* menu : window->menuBar()->findChildren<QMenu*>()) {
        if (menu->title().isEmpty()) continue;  // the menu bar's own, for what does not fit
        EXPECT_TRUE(menu->title().contains('&')) << qPrintable(menu->title());
        for (const QAction* action : menu->actions()) {
            if (action->isSeparator() || menu->title().startsWith("Recent")) continue;
            EXPECT_TRUE(action->text().contains('&') || !action->shortcut().isEmpty() || action->menu()) << qPrintable(menu->title() + ": " + action->text());
        }
    }
    for (const char* title : {"Summary", "Profile", "Kernels", "End to end", "Runs", "Doctor"}) {
        window->showPage(title);
        if (window->currentPage() == window->runsPage()) {
            waitFor([&] { return window->runsPage()->model()->rowCount() == 2; });
            window->services().library->compare({first, second});
            ASSERT_TRUE(waitFor([&] { return window->runsPage()->comparePanel()->isVisible(); }));
        }
        for (QWidget* widget : window->findChildren<QWidget*>()) {
            const bool control = qobject_cast<QAbstractButton*>(widget) || qobject_cast<QLineEdit*>(widget) || qobject_cast<Chart*>(widget) ||
                                 qobject_cast<QAbstractItemView*>(widget) || qobject_cast<QComboBox*>(widget) || qobject_cast<QAbstractSpinBox*>(widget);
            if (!control || !widget->isVisible() || widget->focusPolicy() == Qt::NoFocus) continue;
            const auto* button = qobject_cast<QAbstractButton*>(widget);
            const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()) ||
                               (widget->parentWidget() && !widget->parentWidget()->accessibleName().isEmpty());
            EXPECT_TRUE(named) << title << ": " << widget->metaObject()->className() << " " << qPrintable(widget->objectName());
            // In a group of which one is chosen, Tab goes to the chosen one and arrow keys go on from there.
            const bool byArrows = button && button->group() && button->group()->exclusive() && button->group()->checkedButton();
            EXPECT_TRUE(byArrows || (widget->focusPolicy() & Qt::TabFocus)) << title << ": " << widget->metaObject()->className() << " " << qPrintable(widget->accessibleName());
        }
    }
}

}  // namespace
}  // namespace kernelscope::ui
