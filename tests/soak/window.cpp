// The window, measuring: what kills.py kills.
//   soak_window STORE RUN    sweeps as kills.py's command line does; RUN "-" begins, else it is continued

#include <cstdlib>
#include <iostream>

#include <QApplication>
#include <QTemporaryDir>
#include <QTimer>

#include "core/client/store.h"
#include "ui/main_window.h"
#include "ui/services/engine_adapter.h"

using namespace kernelscope;

int main(int argc, char** argv) {
    if (argc < 3) return 64;
    QApplication application(argc, argv);
    QTemporaryDir folder;
    ui::MainWindow window(ui::WindowOptions{.settingsFile = folder.path() + "/window.ini", .store = argv[1]});
    window.showPage("Kernels");
    QObject::connect(&window, &ui::MainWindow::servicesStarted, &window, [&] {
        ui::EngineAdapter* engine = window.services().engine;
        QObject::connect(engine, &ui::EngineAdapter::jobFinished, &application, [](const RunHeader&, const Finished& finished) {
            if (finished.status != RunStatus::done) std::cerr << finished.error.message << std::endl;
            QApplication::exit(finished.status == RunStatus::done ? 0 : int(finished.error.code));
        });
        JobRequest request{.kind = "sweep", .model = "qwen2.5-tiny", .device = "cpu"};
        request.settings = {{"op", "rms_norm,silu_mul"}, {"repeats", 20}};
        for (int rows = 1; rows <= 24; ++rows) request.settings["rows"].push_back(rows);
        Result<void> started;
        if (std::string_view(argv[2]) == "-") {
            started = engine->start(request, "kernelscope-cli sweep --model qwen2.5-tiny --device cpu --op rms_norm,silu_mul --rows 1-24 --repeats 20");
        } else {
            const auto run = window.services().store->run(argv[2]);
            if (run) {
                request.settings = run->header.settings;
                request.seed = run->header.seed;
                request.dtype = run->header.dtype;
                started = engine->resume(argv[2], request);
            } else started = run.error();
        }
        if (!started) {
            std::cerr << started.error().message << std::endl;
            std::exit(4);
        }
    });
    window.show();
    return QApplication::exec();
}
