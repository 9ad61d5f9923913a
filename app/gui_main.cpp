#include <cstdio>
#include <ctime>

#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QFileInfo>

#include "core/records/process_guard.h"
#include "ui/main_window.h"
#include "ui/text.h"

#ifndef KERNELSCOPE_VERSION
#define KERNELSCOPE_VERSION "unknown"
#endif

namespace {

/// Qt ends the process itself where it finds no display; we would rather say so.
bool displayMissing(int argc, char** argv) {
#if defined(Q_OS_LINUX)
    for (int index = 1; index < argc; ++index) {
        if (QByteArrayView(argv[index]).startsWith("-platform")) return false;
    }
    return qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM");
#else
    Q_UNUSED(argc);
    Q_UNUSED(argv);
    return false;
#endif
}

}  // namespace

int main(int argc, char** argv) {
    QElapsedTimer sinceStart;
    sinceStart.start();
    kernelscope::guardProcess();
    const bool noDisplay = displayMissing(argc, argv);
    if (noDisplay) qputenv("QT_QPA_PLATFORM", "offscreen");  // --help and --version need none
    QApplication application(argc, argv);
    kernelscope::ui::readFiguresAsFilesHaveThem();
    QApplication::setApplicationName("kernelscope");
    QApplication::setApplicationDisplayName("Kernelscope");
    QApplication::setApplicationVersion(KERNELSCOPE_VERSION);
    QApplication::setDesktopFileName("kernelscope");

    QCommandLineParser parser;
    parser.setApplicationDescription("Where an LLM's inference time goes, and what a faster kernel buys.");
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument("file", "What to begin with: a kernel of your own (.cu, .cpp, .so: proved and measured at every save), a model folder, or a run in a file (JSON of this program, a torch profiler's trace).", "[file]");
    const QCommandLineOption store("store", "The run store to use instead of the user's own.", "file");
    const QCommandLineOption engine("engine", "How to start the engine, such as \"ssh gpubox kernelscope-engine\".", "command");
    const QCommandLineOption settings("settings", "The settings file to use instead of the user's own.", "file");
    const QCommandLineOption firstPaint("time-first-paint", "Print the milliseconds to the first paint and quit.");
    parser.addOptions({store, engine, settings, firstPaint});
    parser.process(application);
    if (noDisplay) {
        std::fputs("kernelscope: there is no display here (DISPLAY and WAYLAND_DISPLAY are empty)\n"
                   "  Start it in a desktop session, through `ssh -X` or under xvfb-run, or use kernelscope-cli.\n", stderr);
        return 4;
    }

    // A pipe would be read for ever; what does not exist yet is made.
    if (const QFileInfo file(parser.value(settings)); file.exists() && !file.isFile()) {
        std::fprintf(stderr, "kernelscope: the settings cannot be kept in %s: it is %s\n  Name a file with --settings, or leave it out.\n",
                     qUtf8Printable(file.filePath()), file.isDir() ? "a folder" : "no file but a pipe, a socket or a device");
        return 65;
    }

    kernelscope::ui::WindowOptions options;
    options.settingsFile = parser.value(settings);
    options.store = std::filesystem::path(parser.value(store).toStdU16String());
    options.engine = parser.value(engine);
    if (!parser.positionalArguments().isEmpty()) options.open = parser.positionalArguments().front();
    kernelscope::ui::MainWindow window(std::move(options));
    if (parser.isSet(firstPaint)) {
        QObject::connect(&window, &kernelscope::ui::MainWindow::firstPainted, &application, [&] {
            // The CPU's time too: on a busy machine the clock on the wall measures the others.
            std::printf("first paint after %lld ms, %.0f ms of CPU time\n", static_cast<long long>(sinceStart.elapsed()),
                        1000.0 * double(std::clock()) / CLOCKS_PER_SEC);
            std::fflush(stdout);
            std::_Exit(0);
        });
    }
    window.show();
    return QApplication::exec();
}
