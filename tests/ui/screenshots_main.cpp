// Renders the pages of the window to PNG files, for the README and for looking at them:
//   ui_screenshots FOLDER [--store FILE] [--engine COMMAND] [--width N --height N] [--run]
// With --store the newest saved run of each kind is opened; with --run the Profile page is run live on the tiny model.

#include <cstdio>

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "core/client/store.h"
#include "ui/charts/share_bars.h"
#include "ui/main_window.h"
#include "ui/model_line.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/services/engine_adapter.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/table_view.h"

using namespace kernelscope;
using namespace kernelscope::ui;

namespace {

struct Shots {
    QString folder;
    QSize size;

    void take(MainWindow& window, const QString& name) const {
        QTest::qWait(60);
        const QString file = folder + "/" + name + ".png";
        window.grab().save(file);
        std::printf("%s\n", qPrintable(file));
    }
};

bool waitFor(const std::function<bool()>& condition, int milliseconds) { return QTest::qWaitFor(condition, milliseconds); }

void opened(MainWindow& window, const Shots& shots) {
    window.resize(shots.size);
    window.show();
    waitFor([&] { return window.services().engine != nullptr; }, 5000);
}

}  // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    QLocale::setDefault(QLocale::c());
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addPositionalArgument("folder", "Where the pictures go.");
    const QCommandLineOption store("store", "A store with runs to show.", "file");
    const QCommandLineOption engine("engine", "How to start the engine.", "command");
    const QCommandLineOption width("width", "Of the window.", "pixels", "1280");
    const QCommandLineOption height("height", "Of the window.", "pixels", "860");
    const QCommandLineOption live("run", "Profile the tiny model live.");
    const QCommandLineOption scheme("scheme", "light, dark or high-contrast.", "name", "light");
    const QCommandLineOption zoom("zoom", "Of the text.", "factor", "1");
    parser.addOptions({store, engine, width, height, live, scheme, zoom});
    parser.process(application);
    if (parser.positionalArguments().size() != 1) parser.showHelp(64);
    QDir().mkpath(parser.positionalArguments().front());
    const Shots shots{parser.positionalArguments().front(), {parser.value(width).toInt(), parser.value(height).toInt()}};
    const QString tail = "-" + parser.value(scheme);
    QTemporaryDir temporary;

    const auto makeWindow = [&](const QString& storeFile, const QString& engineCommand) {
        const QString settings = temporary.filePath("window.ini");
        {
            Settings remembered(settings);
            remembered.setScheme(schemeFromString(parser.value(scheme)));
            remembered.setZoom(parser.value(zoom).toDouble());
            remembered.setText("window/page", "Profile");
            remembered.setText("model/name", "qwen2.5-tiny");
        }
        return std::make_unique<MainWindow>(WindowOptions{.settingsFile = settings,
                                                          .store = std::filesystem::path(storeFile.toStdU16String()),
                                                          .engine = engineCommand});
    };
    const QString emptyStore = temporary.filePath("empty.sqlite");
    {
        auto window = makeWindow(emptyStore, parser.value(engine));
        opened(*window, shots);
        shots.take(*window, "profile-empty" + tail);
        window->showPage("Runs");
        shots.take(*window, "runs-empty" + tail);
    }
    {
        auto window = makeWindow(emptyStore, "/nowhere/kernelscope-engine");
        opened(*window, shots);
        waitFor([&] { return window->profilePage()->errorBanner()->isVisible(); }, 5000);
        shots.take(*window, "profile-failed" + tail);
    }
    if (parser.isSet(live)) {
        auto window = makeWindow(temporary.filePath("live.sqlite"), parser.value(engine));
        opened(*window, shots);
        ProfilePage* page = window->profilePage();
        waitFor([&] { return window->services().engine->hello().has_value(); }, 60000);
        QTest::mouseClick(page->runButton(), Qt::LeftButton);
        waitFor([&] { return page->exportable() != nullptr; }, 60000);
        shots.take(*window, "profile-running" + tail);
        waitFor([&] { return !page->running(); }, 120000);
        shots.take(*window, "profile-finished" + tail);
        QTest::mouseClick(page->bars(), Qt::LeftButton, {}, QPoint(120, 20));
        shots.take(*window, "profile-filtered" + tail);
    }
    if (parser.isSet(store)) {
        auto window = makeWindow(parser.value(store), parser.value(engine));
        opened(*window, shots);
        window->showPage("Runs");
        waitFor([&] { return window->runsPage()->model()->rowCount() > 0; }, 5000);
        shots.take(*window, "runs" + tail);
        QStringList kinds;
        for (const RunSummary& run : std::vector<RunSummary>(window->runsPage()->model()->rows())) {
            const QString kind = QString::fromStdString(run.header.kind);
            if (kinds.contains(kind) || run.rows == 0) continue;
            kinds << kind;
            window->showPage("Runs");
            window->openRun(QString::fromStdString(run.header.id));
            if (waitFor([&] { return window->currentPage() != window->runsPage(); }, 5000)) shots.take(*window, "saved-" + kind + tail);
        }
    }
    return 0;
}
