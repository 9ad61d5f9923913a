#include "app/cli/job_runner.h"

#include <condition_variable>
#include <mutex>
#include <optional>

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
        code = worse(code, writeRun(destination, store, header.id, format));
    }
    return code;
}

}  // namespace

struct JobRunner::State {
    explicit State(const CommonOptions& options) : common(options), progress(progressStyle(options)) {}

    const CommonOptions& common;
    std::mutex mutex;  // guards the two below and `answer`
    std::condition_variable changed;
    Session* running = nullptr;
    bool stopped = false;
    std::optional<Result<nlohmann::json>> answer;

    const JobHooks* hooks = nullptr;  // while a job runs
    JobRun run;
    ProgressLine progress;
    // Before the session, so that its thread inherits the blocked signals.
    std::optional<StopSignals> signals;
    std::unique_ptr<Store> store;
    std::optional<EngineWait> waiting;
    std::optional<Session> session;  // last: its thread uses all of the above
};

JobRunner::JobRunner(const CommonOptions& common) : m_state(std::make_unique<State>(common)) {}
JobRunner::~JobRunner() = default;

int JobRunner::open(bool keeps) {
    State& state = *m_state;
    auto options = sessionOptions(state.common);
    if (!options) return report(options.error());
    if (const auto ready = prepareDocuments(state.common); !ready) return report(ready.error());
    state.signals.emplace([&state] {
        const std::lock_guard lock(state.mutex);
        state.stopped = true;
        if (state.running) state.running->cancel();
        if (!state.answer) state.answer = makeError(ErrorCode::cancelled, "cancelled");
        state.changed.notify_all();
    });
    if (keeps) {
        auto store = Store::open(storePath(state.common));
        if (!store) return report(store.error());
        state.store = std::move(*store);
    }

    SessionListener listener;
    listener.progress = [&state](const Progress& step) { state.progress.show(step); };
    listener.jobStarted = [&state](const RunHeader& header) {
        if (state.store) say(state.common, describe(header));
        if (state.hooks->started) state.hooks->started(header);
    };
    listener.row = [&state](const RowRecord& row) {
        if (state.hooks->row) state.hooks->row(row);
    };
    listener.log = [&state](const std::string& line) { say(state.common, "engine: " + line); };
    listener.jobFinished = [&state](const RunHeader& header, const Finished& finished) {
        state.run.header = header;
        state.run.finished = finished;
    };
    state.waiting.emplace(state.common, *options);
    listener.hello = [&state](const Hello&) { state.waiting->over(); };
    state.session.emplace(std::move(*options), state.store.get(), std::move(listener));
    return 0;
}

bool JobRunner::stopped() const {
    const std::lock_guard lock(m_state->mutex);
    return m_state->stopped;
}

void JobRunner::cancelRun() {
    const std::lock_guard lock(m_state->mutex);
    if (m_state->running) m_state->running->cancel();
}

bool JobRunner::pause(std::chrono::milliseconds time) {
    std::unique_lock lock(m_state->mutex);
    return !m_state->changed.wait_for(lock, time, [this] { return m_state->stopped; });
}

Result<nlohmann::json> JobRunner::ask(const std::string& method, nlohmann::json params) {
    State& state = *m_state;
    {
        const std::lock_guard lock(state.mutex);
        if (state.stopped) return makeError(ErrorCode::cancelled, "cancelled");
        if (const auto valid = mustBeUtf8(params); !valid) return valid.error();
        state.answer.reset();
    }
    state.session->call(method, std::move(params), [&state](Result<nlohmann::json> result) {
        const std::lock_guard lock(state.mutex);
        if (!state.answer) state.answer = std::move(result);
        state.changed.notify_all();
    });
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.answer.has_value(); });
    return *state.answer;
}

int JobRunner::run(JobRequest request, const JobHooks& hooks, JobRun* kept) {
    State& state = *m_state;
    const CommonOptions& common = state.common;
    state.run = JobRun{};
    state.run.store = state.store.get();
    state.hooks = &hooks;
    if (const auto valid = mustBeUtf8(toJson(request)); !valid) return report(valid.error());
    const auto started = hooks.resumes.empty() ? state.session->start(std::move(request), common.commandLine) : state.session->resume(hooks.resumes, std::move(request));
    if (!started) return report(started.error());
    {
        const std::lock_guard lock(state.mutex);
        state.running = &*state.session;
        if (state.stopped) state.session->cancel();
    }
    state.session->wait();
    {
        const std::lock_guard lock(state.mutex);
        state.running = nullptr;
    }
    ProgressLine::clear();

    JobRun& run = state.run;
    int code = 0;
    const bool exists = !run.header.id.empty();
    if (exists) {
        if (auto rows = state.store->rows(run.header.id, run.header.kind)) run.rows = std::move(*rows);
        const bool nothing = run.rows.empty() && run.finished.status == RunStatus::failed;  // headings over nothing help nobody
        if (hooks.table && !nothing && !common.documentOnOutput() && !common.quiet) hooks.table(run);
        code = worse(code, writeDocuments(common, *state.store, run.header));
        if (hooks.afterwards) code = worse(code, hooks.afterwards(run));
        say(common, "run " + run.header.id + (run.finished.status == RunStatus::done ? "" : " (" + std::string(toString(run.finished.status)) + ")"));
    }
    if (!state.store && run.finished.status == RunStatus::done) {
        if (hooks.table && !common.documentOnOutput() && !common.quiet) hooks.table(run);
        if (hooks.afterwards) code = worse(code, hooks.afterwards(run));
    }
    if (kept) *kept = run;
    switch (run.finished.status) {
        case RunStatus::done: return worse(code, hooks.judge ? hooks.judge(run) : 0);
        case RunStatus::cancelled: return 130;
        default: return worse(code, report(run.finished.error));
    }
}

int runJob(const CommonOptions& common, JobRequest request, const JobHooks& hooks) {
    JobRunner runner(common);
    if (const int code = runner.open(hooks.keeps); code != 0) return code;
    return runner.run(std::move(request), hooks);
}

}  // namespace kernelscope::cli
