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
    header.headline = "60000 cells, against native: fused 1.50x (geometric mean)";
    std::vector<RowRecord> rows;
    for (int i = 0; i < 60'000; ++i) {
        SweepRow row{"rms_norm", i % 2 ? "fused" : "native", "float32", 896, i / 2 + 1, "cold", "ok"};
        row.deviceUs = 10 + 0.01 * i;
        row.speedup = i % 2 ? 1.5 : 1;
        rows.push_back({"sweep", std::to_string(i), valuesOf(row)});
    }
    if (store.createRun(header)) [[maybe_unused]] const auto put = store.putRows("large", rows);
}

/// Makes windows of one look, each on a store of its own, and takes their pictures.
class Studio {
public:
    Studio(const QCommandLineParser& parser, const QString& temporary)
        : m_folder(parser.positionalArguments().front()), m_size(parser.value("width").toInt(), parser.value("height").toInt()), m_scheme(parser.value("scheme")),
          m_zoom(parser.value("zoom").toDouble()), m_engine(parser.value("engine")), m_temporary(temporary) {
        QDir().mkpath(m_folder);
    }

    [[nodiscard]] QString file(const QString& name) const { return m_temporary + "/" + name; }

    [[nodiscard]] std::unique_ptr<MainWindow> open(const QString& store, const QString& engine) const {
        const QString settings = file("window.ini");
        {
            Settings remembered(settings);
            remembered.setScheme(schemeFromString(m_scheme));
            remembered.setZoom(m_zoom);
            remembered.setText("window/page", "Profile");
            remembered.setText("model/name", "qwen2.5-tiny");
        }
        auto window = std::make_unique<MainWindow>(WindowOptions{.settingsFile = settings, .store = std::filesystem::path(store.toStdU16String()), .engine = engine});
        window->resize(m_size);
        window->show();
        waitFor([&] { return window->services().engine != nullptr; }, 5000);
        return window;
    }
    [[nodiscard]] std::unique_ptr<MainWindow> open(const QString& store) const { return open(store, m_engine); }

    void take(MainWindow& window, const QString& name) const {
        QTest::qWait(60);
        // A line of controls more asks each level above it for room, an event each, however long a busy machine takes.
        for (int level = 0; level < 8; ++level) QApplication::sendPostedEvents();
        const QString file = m_folder + "/" + name + "-" + m_scheme + ".png";
        window.grab().save(file);
        std::printf("%s\n", qPrintable(file));
    }

private:
    QString m_folder;
    QSize m_size;
    QString m_scheme;
    double m_zoom;
    QString m_engine, m_temporary;
};

void takeEmptyStates(const Studio& studio) {
    const auto window = studio.open(studio.file("empty.sqlite"));
    studio.take(*window, "profile-empty");
    for (const char* title : {"Runs", "Kernels", "End to end", "Summary"}) {
        window->showPage(title);
        studio.take(*window, QString(title).toLower().replace(' ', '-') + "-empty");
    }
    window->hubBar()->open("Qwen/Qwen2.5-0.5B-Instruct");
    studio.take(*window, "hub");
    window->hubBar()->begin();
    window->hubBar()->setProgress({.phase = "Fetching model.safetensors, MiB", .done = 412, .total = 942, .secondsLeft = 95});
    studio.take(*window, "hub-fetching");
    window->hubBar()->end(makeError(ErrorCode::environment, "the hub cannot be reached: name not resolved", "check the network or HF_ENDPOINT; what has arrived is kept"));
    studio.take(*window, "hub-failed");
    window->hubBar()->hide();
    window->engineBar()->open("", "ssh gpubox kernelscope-engine");
    studio.take(*window, "another-machine");
    window->engineBar()->hide();
    storeLargeRun(*window->services().store);
    window->openRun("large");
    waitFor([&] { return window->runsPage()->largeRun()->isVisible(); }, 20000);
    QTest::qWait(300);
    studio.take(*window, "runs-large");
}

void takeWithoutAnEngine(const Studio& studio) {
    const auto window = studio.open(studio.file("empty.sqlite"), "/nowhere/kernelscope-engine");
    waitFor([&] { return window->profilePage()->errorBanner()->isVisible(); }, 5000);
    studio.take(*window, "profile-failed");
}

void takeALiveProfile(const Studio& studio) {
    const auto window = studio.open(studio.file("live.sqlite"));
    ProfilePage* page = window->profilePage();
    waitFor([&] { return window->services().engine->hello().has_value(); }, 60000);
    QTest::mouseClick(page->runButton(), Qt::LeftButton);
    waitFor([&] { return page->exportable() != nullptr; }, 60000);
    studio.take(*window, "profile-running");
    waitFor([&] { return !page->running(); }, 120000);
    studio.take(*window, "profile-finished");
    QTest::mouseClick(page->bars(), Qt::LeftButton, {}, QPoint(120, 20));
    studio.take(*window, "profile-filtered");
}

/// `names` of pictures, by run; `compared` by those names, with commas between.
void takeSavedRuns(const Studio& studio, const QString& store, const QMap<QString, QString>& names, const QString& compared) {
    const auto window = studio.open(store);
    window->showPage("Runs");
    waitFor([&] { return window->runsPage()->model()->rowCount() > 0; }, 5000);
    studio.take(*window, "runs");
    for (const RunSummary& run : std::vector<RunSummary>(window->runsPage()->model()->rows())) {
        if (run.rows == 0) continue;
        const QString id = QString::fromStdString(run.header.id);
        window->showPage("Runs");
        window->openRun(id);
        if (!waitFor([&] { return window->currentPage() != window->runsPage(); }, 5000)) continue;
        window->profilePage()->errorBanner()->hide();
        studio.take(*window, QString::fromStdString(run.header.kind) + "-" + names.value(id, id));
    }
    if (!compared.isEmpty()) {
        QStringList ids;
        for (const QString& name : compared.split(',')) ids << names.key(name, name);
        window->showPage("Runs");
        window->services().library->compare(ids);
        waitFor([&] { return window->runsPage()->comparePanel()->isVisible(); }, 5000);
        studio.take(*window, "compare");
    }
    window->modelLine()->setModel("qwen2.5-0.5b");
    for (const char* title : {"Summary", "Doctor"}) {
        window->showPage(title);
        QTest::qWait(600);
        studio.take(*window, QString(title).toLower());
    }
}

/// Imports into `store`, and returns the files' names by run.
Result<QMap<QString, QString>> imported(const QStringList& files, const QString& store) {
    QMap<QString, QString> names;
    auto opened = Store::open(std::filesystem::path(store.toStdU16String()));
    if (!opened) return opened.error();
    for (const QString& file : files) {
        if (!QFileInfo(file).isReadable()) return makeError(ErrorCode::badInput, "cannot read " + file.toStdString());
        const auto run = importFile(**opened, std::filesystem::path(file.toStdU16String()));
        // A JSON file that is no run: said, and left out.
        if (!run) std::fprintf(stderr, "%s: %s\n", qPrintable(file), run.error().message.c_str());
        else names[QString::fromStdString(run->id)] = QFileInfo(file).completeBaseName();
    }
    return names;
}

/// "--import A B C" as a shell's pattern gives it: each gets the option before it.
QStringList wordsOf(const QStringList& arguments) {
    QStringList words;
    bool importing = false;
    for (const QString& word : arguments) {
        if (word.startsWith('-')) importing = word == "--import";
        else if (importing && words.back() != "--import") words << "--import";
        words << word;
    }
    return words;
}

}  // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    readFiguresAsFilesHaveThem();
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addPositionalArgument("folder", "Where the pictures go.");
    parser.addOptions({{"store", "A store with runs to show.", "file"},
                       {"engine", "How to start the engine.", "command"},
                       {"width", "Of the window.", "pixels", "1280"},
                       {"height", "Of the window.", "pixels", "860"},
                       {"run", "Profile the tiny model live."},
                       {"scheme", "light, dark or high-contrast.", "name", "light"},
                       {"zoom", "Of the text.", "factor", "1"},
                       {"import", "Runs exported as JSON, or traces, to show: all names up to the next option.", "file"},
                       {"compare", "Imported runs to show side by side, by their files' names, with commas between.", "names"},
                       {"only-saved", "Saved runs only, no other states."}});
    parser.process(wordsOf(application.arguments()));
    if (parser.positionalArguments().size() != 1) parser.showHelp(64);
    const QTemporaryDir temporary;
    const Studio studio(parser, temporary.path());

    QString store = parser.value("store");
    QMap<QString, QString> names;
    if (parser.isSet("import")) {
        if (store.isEmpty()) store = studio.file("imported.sqlite");
        const auto found = imported(parser.values("import"), store);
        if (!found) return std::fprintf(stderr, "%s\n", found.error().message.c_str()), int(found.error().code);
        names = *found;
    }
    if (!parser.isSet("only-saved")) {
        takeEmptyStates(studio);
        takeWithoutAnEngine(studio);
    }
    if (parser.isSet("run")) takeALiveProfile(studio);
    if (!store.isEmpty()) takeSavedRuns(studio, store, names, parser.value("compare"));
    return 0;
}
