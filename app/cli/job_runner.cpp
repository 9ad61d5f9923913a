#include "app/cli/job_runner.h"

#include <mutex>

#include "app/cli/engine_wait.h"
#include "app/cli/progress_line.h"
#include "app/cli/terminal.h"
#include "core/client/export.h"

namespace kernelscope::cli {

JobRequest jobRequest(const CommonOptions& common, const std::string& kind) {
    JobRequest request;
    request.kind = kind;
    request.model = common.model;
    request.device = common.device;
    request.dtype = common.dtype;
    request.seed = common.seed;
    return request;
}

std::string describe(const RunHeader& header) {
    if (header.model.empty()) return header.device + ", " + header.dtype;
    return header.model + (header.weights == "random" ? " (random weights)" : "") + " on " + header.device + ", " + header.dtype;
}

namespace {

ProgressLine::Style progressStyle(const CommonOptions& common) {
    if (common.noProgress || (common.quiet && !common.forceProgress)) return ProgressLine::Style::none;
    if (errorIsTerminal()) return ProgressLine::Style::terminal;
    return common.forceProgress ? ProgressLine::Style::log : ProgressLine::Style::none;
}

int writeDocuments(const CommonOptions& common, const Store& store, const RunHeader& header) {
    int code = 0;
    for (const auto& [destination, format] : {std::pair{common.csv, ExportFormat::csv}, {common.json, ExportFormat::json}}) {
        if (destination.empty()) continue;
        const auto document = exportRun(store, header.id, format);
        code = worse(code, document ? writeDocument(destination, *document) : report(document.error()));
    }
    return code;
}

}  // namespace

int runJob(const CommonOptions& common, JobRequest request, const JobHooks& hooks) {
    const auto options = sessionOptions(common);
    if (!options) return report(options.error());
    if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());

    Session* running = nullptr;
    std::mutex runningMutex;
    bool cancelled = false;
    // Before the session, so that its thread inherits the blocked signals.
    StopSignals signals([&] {
        const std::lock_guard lock(runningMutex);
        cancelled = true;
        if (running) running->cancel();
    });
    std::unique_ptr<Store> store;
    if (hooks.keeps) {
        auto opened = Store::open(storePath(common));
        if (!opened) return report(opened.error());
        store = std::move(*opened);
    }

    JobRun run;
    run.store = store.get();
    ProgressLine progress(progressStyle(common));
    SessionListener listener;
    listener.progress = [&](const Progress& step) { progress.show(step); };
    listener.jobStarted = [&](const RunHeader& header) {
        if (hooks.keeps) say(common, describe(header));
        if (hooks.started) hooks.started(header);
    };
    listener.row = [&](const RowRecord& row) {
        if (hooks.row) hooks.row(row);
    };
    listener.log = [&](const std::string& line) { say(common, "engine: " + line); };
    listener.jobFinished = [&](const RunHeader& header, const Finished& finished) {
        run.header = header;
        run.finished = finished;
    };
    EngineWait waiting(common, *options);
    listener.hello = [&](const Hello&) { waiting.over(); };
    Session session(*options, store.get(), std::move(listener));
    const auto started = hooks.resumes.empty() ? session.start(std::move(request), common.commandLine) : session.resume(hooks.resumes, std::move(request));
    if (!started) return report(started.error());
    {
        const std::lock_guard lock(runningMutex);
        running = &session;
        if (cancelled) session.cancel();
    }
    session.wait();
    {
        const std::lock_guard lock(runningMutex);
        running = nullptr;
    }
    ProgressLine::clear();

    int code = 0;
    const bool exists = !run.header.id.empty();
    if (exists) {
        if (auto rows = store->rows(run.header.id, run.header.kind)) run.rows = std::move(*rows);
        if (hooks.table && !common.documentOnOutput() && !common.quiet) hooks.table(run);
        code = worse(code, writeDocuments(common, *store, run.header));
        if (hooks.afterwards) code = worse(code, hooks.afterwards(run));
        say(common, "run " + run.header.id + (run.finished.status == RunStatus::done ? "" : " (" + std::string(toString(run.finished.status)) + ")"));
    }
    if (!hooks.keeps && run.finished.status == RunStatus::done) {
        if (hooks.table && !common.documentOnOutput() && !common.quiet) hooks.table(run);
        if (hooks.afterwards) code = worse(code, hooks.afterwards(run));
    }
    switch (run.finished.status) {
        case RunStatus::done: return worse(code, hooks.judge ? hooks.judge(run) : 0);
        case RunStatus::cancelled: return 130;
        default: return worse(code, report(run.finished.error));
    }
}

}  // namespace kernelscope::cli
