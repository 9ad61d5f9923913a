// Renders the pages of the window to PNG files, for the README and for looking at them:
//   ui_screenshots FOLDER [--import FILE...] [--store FILE] [--engine COMMAND] [--width N --height N] [--run] [--compare A,B...]
// With --store each saved run is opened, with --import each run exported as JSON and each trace of the torch profiler (pictures take
// the file's name); with --run the Profile page is run live on the tiny model; --compare shows imported runs side by side.

#include <cstdio>

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QFileInfo>
#include <QMap>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "core/client/import.h"
#include "core/client/store.h"
#include "core/records/kernel_rows.h"
#include "ui/charts/share_bars.h"
#include "ui/main_window.h"
#include "ui/model_line.h"
#include "ui/pages/compare_panel.h"
#include "ui/pages/profile_page.h"
#include "ui/pages/runs_page.h"
#include "ui/services/engine_adapter.h"
#include "ui/services/run_library.h"
#include "ui/text.h"
#include "ui/pages/large_run_panel.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/engine_bar.h"
#include "ui/widgets/hub_bar.h"
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

/// A sweep of more cells than charts take in.
void storeLargeRun(Store& store) {
    RunHeader header;
    header.id = "large";
    header.kind = "sweep";
    header.model = "Qwen2.5-0.5B";
    header.device = "a CPU";
    header.dtype = "float32";
    header.status = RunStatus::done;
    header.headline = "60000 cells, against native: fused 1.50x (median)";
    std::vector<RowRecord> rows;
    for (int i = 0; i < 60'000; ++i) {
        SweepRow row{"rms_norm", i % 2 ? "fused" : "native", "float32", 896, i / 2 + 1, "cold", "ok"};
        row.deviceUs = 10 + 0.01 * i;
        row.speedup = i % 2 ? 1.5 : 1;
        rows.push_back({"sweep", std::to_string(i), valuesOf(row)});
    }
    if (store.createRun(header)) [[maybe_unused]] const auto put = store.putRows("large", rows);
}

void opened(MainWindow& window, const Shots& shots) {
    window.resize(shots.size);
    window.show();
    waitFor([&] { return window.services().engine != nullptr; }, 5000);
}

}  // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    kernelscope::ui::readFiguresAsFilesHaveThem();
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
    const QCommandLineOption import("import", "Runs exported as JSON, or traces, to show: all names up to the next option.", "file");
    const QCommandLineOption compare("compare", "Imported runs to show side by side, by their files' names, with commas between.", "names");
    const QCommandLineOption only("only-saved", "Saved runs only, no other states.");
    parser.addOptions({store, engine, width, height, live, scheme, zoom, import, only, compare});
    // "--import A B C" as a shell's pattern gives it: each gets the option before it.
    QStringList words;
    bool importing = false;
    for (const QString& word : application.arguments()) {
        if (word.startsWith('-')) importing = word == "--import";
        else if (importing && words.back() != "--import") words << "--import";
        words << word;
    }
    parser.process(words);
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
    QString shownStore = parser.value(store);
    QMap<QString, QString> names;  // of pictures, by run
    if (parser.isSet(import)) {
        if (shownStore.isEmpty()) shownStore = temporary.filePath("imported.sqlite");
        auto opened = Store::open(std::filesystem::path(shownStore.toStdU16String()));
        if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 4;
        for (const QString& file : parser.values(import)) {
            if (!QFileInfo(file).isReadable()) return std::fprintf(stderr, "cannot read %s\n", qPrintable(file)), 65;
            const auto run = importFile(**opened, std::filesystem::path(file.toStdU16String()));
            if (!run) {  // a JSON file that is no run: said, and left out
                std::fprintf(stderr, "%s: %s\n", qPrintable(file), run.error().message.c_str());
                continue;
            }
            names[QString::fromStdString(run->id)] = QFileInfo(file).completeBaseName();
        }
    }
    if (!parser.isSet(only)) {
        auto window = makeWindow(emptyStore, parser.value(engine));
        opened(*window, shots);
        shots.take(*window, "profile-empty" + tail);
        window->showPage("Runs");
        shots.take(*window, "runs-empty" + tail);
        for (const char* title : {"Kernels", "End to end", "Summary"}) {
            window->showPage(title);
            shots.take(*window, QString(title).toLower().replace(' ', '-') + "-empty" + tail);
        }
        window->hubBar()->open("Qwen/Qwen2.5-0.5B-Instruct");
        shots.take(*window, "hub" + tail);
        window->hubBar()->begin();
        window->hubBar()->setProgress({.phase = "Fetching model.safetensors, MiB", .done = 412, .total = 942, .secondsLeft = 95});
        shots.take(*window, "hub-fetching" + tail);
        window->hubBar()->end(makeError(ErrorCode::environment, "the hub cannot be reached: name not resolved", "check the network or HF_ENDPOINT; what has arrived is kept"));
        shots.take(*window, "hub-failed" + tail);
        window->hubBar()->hide();
        window->engineBar()->open("", "ssh gpubox kernelscope-engine");
        shots.take(*window, "another-machine" + tail);
        window->engineBar()->hide();
        storeLargeRun(*window->services().store);
        window->openRun("large");
        waitFor([&] { return window->runsPage()->largeRun()->isVisible(); }, 20000);
        QTest::qWait(300);
        shots.take(*window, "runs-large" + tail);
    }
    if (!parser.isSet(only)) {
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
    if (!shownStore.isEmpty()) {
        auto window = makeWindow(shownStore, parser.value(engine));
        opened(*window, shots);
        window->showPage("Runs");
        waitFor([&] { return window->runsPage()->model()->rowCount() > 0; }, 5000);
        shots.take(*window, "runs" + tail);
        for (const RunSummary& run : std::vector<RunSummary>(window->runsPage()->model()->rows())) {
            if (run.rows == 0) continue;
            const QString id = QString::fromStdString(run.header.id);
            window->showPage("Runs");
            window->openRun(id);
            if (!waitFor([&] { return window->currentPage() != window->runsPage(); }, 5000)) continue;
            window->profilePage()->errorBanner()->hide();
            shots.take(*window, QString::fromStdString(run.header.kind) + "-" + names.value(id, id) + tail);
        }
        if (parser.isSet(compare)) {
            QStringList ids;
            for (const QString& name : parser.value(compare).split(',')) ids << names.key(name, name);
            window->showPage("Runs");
            window->services().library->compare(ids);
            waitFor([&] { return window->runsPage()->comparePanel()->isVisible(); }, 5000);
            shots.take(*window, "compare" + tail);
        }
        window->modelLine()->setModel("qwen2.5-0.5b");
        for (const char* title : {"Summary", "Doctor"}) {
            window->showPage(title);
            QTest::qWait(600);
            shots.take(*window, QString(title).toLower() + tail);
        }
    }
    return 0;
}
