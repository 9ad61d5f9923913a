#include "core/client/session.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/client/engine_link.h"
#include "core/client/running_job.h"
#include "core/client/store.h"
#include "core/records/headline.h"
#include "core/records/json_read.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"
#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {
/// A variant that took three engines with it in a row would take the next one too.
constexpr int kCrashesToGiveUp = 3;
/// Engines that die at once, with no row and no cell to blame: the machine is at fault, not a kernel.
constexpr int kFruitlessDeaths = 3;
/// How long an engine that is no longer wanted may take to leave.
constexpr auto kLeaveGrace = milliseconds(1000);
constexpr auto kForever = milliseconds(3'600'000);
}  // namespace

class Session::Impl {
public:
    Impl(SessionOptions options, Store* store, SessionListener listener)
        : m_options(std::move(options)), m_store(store), m_listener(std::move(listener)), m_thread([this] { loop(); }) {}

    ~Impl() {
        post([this] { m_stop = true; cancelJob(); });
        m_thread.join();
    }

    void post(std::function<void()> command) {
        {
            const std::lock_guard lock(m_mutex);
            m_commands.push_back(std::move(command));
        }
        m_wakeUp.wake();
    }

    Result<void> start(JobRequest request, std::string command, std::string resumes = {}) {
        {
            const std::lock_guard lock(m_mutex);
            if (m_jobActive) return makeError(ErrorCode::usage, "a job is running already", "cancel it, or wait for its end");
            m_jobActive = true;
        }
        post([this, request = std::move(request), command = std::move(command), resumes = std::move(resumes)]() mutable {
            beginJob(std::move(request), std::move(command), std::move(resumes));
        });
        return {};
    }

    void wait() {
        std::unique_lock lock(m_mutex);
        m_jobEnded.wait(lock, [this] { return !m_jobActive; });
    }

    EngineState state() const {
        const std::lock_guard lock(m_mutex);
        return m_state;
    }

    void connect() { ensureEngine(); }
    void cancelJob();
    void call(std::string method, json params, std::function<void(Result<json>)> done);

private:
    void loop();
    milliseconds untilNextDeadline() const;
    void checkDeadlines();
    void setState(EngineState state, const std::string& why = {});

    bool ensureEngine();
    void onHello(const Hello& hello);
    void onNotification(const std::string& method, const json& params);
    void engineLost(Error why, bool hung = false);

    void beginJob(JobRequest request, std::string command, std::string resumes);
    Result<RunHeader> openRun();
    void sendJob();
    void onStarted(Result<json> answer);
    void onProgress(const json& params);
    void onRow(const json& params);
    void onFinished(const json& params);
    void flushRows();
    void abandon(Error why);
    void giveUpBroken(const Error& nonsense) {
        m_link->giveUp(makeError(ErrorCode::environment, "the engine broke the protocol and was stopped: " + nonsense.message));
    }
    void askToStop();
    void jobLostItsEngine(const Error& why, bool hung);
    void endJob(Finished finished);
    milliseconds silenceDeadline() const;
    void log(const std::string& line) { if (m_listener.log) m_listener.log(line); }

    const SessionOptions m_options;
    Store* const m_store;
    const SessionListener m_listener;

    mutable std::mutex m_mutex;  // guards the four below
    std::condition_variable m_jobEnded;
    std::deque<std::function<void()>> m_commands;
    bool m_jobActive = false;
    EngineState m_state = EngineState::stopped;

    WakeUp m_wakeUp;
    // The session's thread alone from here on.
    bool m_stop = false;
    std::unique_ptr<EngineLink> m_link;
    std::optional<RunningJob> m_job;
    struct WaitingCall {
        std::string method;
        json params;
        std::function<void(Result<json>)> done;
    };
    std::deque<WaitingCall> m_waitingCalls;
    std::thread m_thread;  // last: it uses all of the above
};

void Session::Impl::setState(EngineState state, const std::string& why) {
    {
        const std::lock_guard lock(m_mutex);
        if (m_state == state && why.empty()) return;
        m_state = state;
    }
    if (m_listener.engineState) m_listener.engineState(state, why);
}

void Session::Impl::loop() {
    blockSignalsInThisThread();
    for (;;) {
        std::deque<std::function<void()>> commands;
        {
            const std::lock_guard lock(m_mutex);
            commands.swap(m_commands);
        }
        for (auto& command : commands) command();
        if (m_stop && !m_job) break;
        if (!m_link) {
            waitForWakeUp(m_wakeUp, kForever);
            continue;
        }
        const bool alive = m_link->pump(m_wakeUp, untilNextDeadline());
        flushRows();
        if (!alive) engineLost(m_link->whyLost());
        else checkDeadlines();
    }
    if (m_link) {
        m_link->stop(kLeaveGrace);
        m_link->failRequests(makeError(ErrorCode::cancelled, "the session ended"));
        m_link.reset();
    }
    for (const WaitingCall& call : std::exchange(m_waitingCalls, {})) call.done(makeError(ErrorCode::cancelled, "the session ended"));
    setState(EngineState::stopped);
}

// ---- deadlines

milliseconds Session::Impl::silenceDeadline() const {
    // A cell's own deadline is the user's; before the first cell the engine loads a model, which takes what it takes.
    if (m_job && !m_job->cell.empty())
        if (const auto found = m_job->header.settings.find("deadline"); found != m_job->header.settings.end())
            if (const auto seconds = numberOf(*found); seconds && *seconds > 0 && *seconds < 1e6)
                return milliseconds(static_cast<std::int64_t>(*seconds * 1000) + 1);
    return m_options.silenceDeadline;
}

milliseconds Session::Impl::untilNextDeadline() const {
    auto next = Clock::now() + kForever;
    // A dead engine whose pipes somebody else still holds open is seen by looking, not by a closed pipe.
    if (m_job) next = std::min(next, Clock::now() + milliseconds(1000));
    if (m_job && m_job->stopping()) next = std::min(next, m_job->stopBy);
    if (m_job && m_job->sent) next = std::min(next, m_job->lastSign + silenceDeadline());
    if (!m_job && m_link->ready() && m_link->waitsForAnswers()) next = std::min(next, m_link->lastHeard() + m_options.silenceDeadline);
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(next - Clock::now()) + milliseconds(1));
}

void Session::Impl::checkDeadlines() {
    const auto now = Clock::now();
    const auto seconds = [](milliseconds time) { return std::to_string((time.count() + 500) / 1000); };
    const auto kill = [&](Error why, bool hung) {
        m_link->giveUp(why);
        engineLost(std::move(why), hung);
    };
    if (m_job && m_job->stopping() && now >= m_job->stopBy) {
        kill(makeError(ErrorCode::environment, "the engine did not stop when asked to and was killed"), false);
    } else if (m_job && m_job->sent && now >= m_job->lastSign + silenceDeadline()) {
        kill(makeError(ErrorCode::environment, "the engine said nothing for " + seconds(silenceDeadline()) + " s and was killed"), true);
    } else if (!m_job && m_link->ready() && m_link->waitsForAnswers() && now >= m_link->lastHeard() + m_options.silenceDeadline) {
        kill(makeError(ErrorCode::environment, "the engine gave no answer for " + seconds(m_options.silenceDeadline) + " s and was killed"), true);
    }
}

// ---- the engine

bool Session::Impl::ensureEngine() {
    if (m_link) return true;
    setState(EngineState::starting);
    EngineCommand command = m_options.engine;
    if (command.argv.empty()) {
        auto found = defaultEngineCommand();
        if (!found) {
            engineLost(found.error());
            return false;
        }
        command = std::move(*found);
    }
    EngineLink::Events events{[this](const std::string& method, const json& params) { onNotification(method, params); },
                              [this](const std::string& line) { log(line); }};
    auto link = EngineLink::start(command, m_options.helloDeadline, std::move(events), [this](Result<Hello> hello) {
        if (hello) onHello(*hello);
    });
    if (!link) {
        engineLost(link.error());
        return false;
    }
    m_link = std::move(*link);
    return true;
}

void Session::Impl::onHello(const Hello& hello) {
    setState(m_job ? EngineState::busy : EngineState::idle);
    if (m_listener.hello) m_listener.hello(hello);
    if (m_options.telemetryIntervalMs > 0 && !hello.devices.empty()) {
        // A GPU that works, else whatever works.
        const auto first = [&](auto wanted) { return std::find_if(hello.devices.begin(), hello.devices.end(), wanted); };
        auto shown = first([](const DeviceInfo& device) { return device.id.starts_with("cuda") && device.problem.empty(); });
        if (shown == hello.devices.end()) shown = first([](const DeviceInfo& device) { return device.problem.empty(); });
        if (shown == hello.devices.end()) shown = hello.devices.begin();
        m_link->request("telemetry.start", {{"device", shown->id}, {"interval_ms", m_options.telemetryIntervalMs}}, [](Result<json>) {});
    }
    for (WaitingCall& call : std::exchange(m_waitingCalls, {})) m_link->request(call.method, call.params, std::move(call.done));
    if (m_job) sendJob();
}

void Session::Impl::call(std::string method, json params, std::function<void(Result<json>)> done) {
    if (m_link && m_link->ready()) {
        m_link->request(method, params, std::move(done));
        return;
    }
    m_waitingCalls.push_back({std::move(method), std::move(params), std::move(done)});
    ensureEngine();
}

void Session::Impl::engineLost(Error why, bool hung) {
    const auto link = std::move(m_link);
    setState(EngineState::lost, why.message);
    if (link) link->failRequests(why);
    link.get();  // dies with this scope, process and all
    for (const WaitingCall& call : std::exchange(m_waitingCalls, {})) call.done(why);
    if (m_job) jobLostItsEngine(why, hung);
}

void Session::Impl::onNotification(const std::string& method, const json& params) {
    if (method == "telemetry") {
        if (const auto telemetry = telemetryFromJson(params)) {
            if (m_listener.telemetry) m_listener.telemetry(*telemetry);
        } else log("not understood: " + telemetry.error().message);
    } else if (method == "log") {
        if (const auto text = params.find("text"); text != params.end() && text->is_string()) log(text->get<std::string>());
    } else if (!m_job || !m_job->started) {
        log("the engine sent " + validUtf8(method.substr(0, 100)) + " without a job");
    } else if (method == "job.progress") {
        onProgress(params);
    } else if (method == "job.row") {
        onRow(params);
    } else if (method == "job.finished") {
        onFinished(params);
    } else {
        log("the engine sent an unknown notification: " + validUtf8(method.substr(0, 100)));
    }
}

// ---- the job

void Session::Impl::beginJob(JobRequest request, std::string command, std::string resumes) {
    m_job.emplace();
    m_job->header.kind = request.kind;
    m_job->header.command = command;
    m_job->header.model = request.model;
    m_job->header.device = request.device;
    m_job->header.dtype = request.dtype;
    m_job->header.settings = request.settings;
    m_job->header.seed = request.seed;
    m_job->request = std::move(request);
    m_job->resumes = std::move(resumes);
    if (m_stop) return cancelJob();
    if (!m_job->resumes.empty()) {
        // Known before the engine is asked: what is there need not be measured.
        const auto run = m_store ? m_store->run(m_job->resumes) : Result<RunSummary>(makeError(ErrorCode::badInput, "there is no store to resume a run from"));
        const auto rows = run ? m_store->rows(run->header.id, m_job->header.kind) : Result<std::vector<RowRecord>>(run.error());
        if (!rows || run->header.kind != m_job->header.kind) {
            Finished refused;
            refused.status = RunStatus::failed;
            refused.error = rows ? makeError(ErrorCode::badInput, "run " + run->header.id + " is a " + run->header.kind + ", not a " + m_job->header.kind) : rows.error();
            return endJob(std::move(refused));
        }
        for (const RowRecord& row : *rows) m_job->measured.insert(row.key);
    }
    if (ensureEngine() && m_link->ready()) sendJob();
}

void Session::Impl::sendJob() {
    setState(EngineState::busy);
    m_job->sent = true;
    m_job->started = false;
    m_job->cell.clear();
    m_job->lastSign = Clock::now();
    JobRequest request = m_job->request;
    request.skip.insert(request.skip.end(), m_job->measured.begin(), m_job->measured.end());
    for (const auto& [variant, crashes] : m_job->crashesInARow)
        if (crashes >= kCrashesToGiveUp) request.giveUp.push_back(variant);
    m_link->request("job.start", toJson(request), [this](Result<json> answer) { onStarted(std::move(answer)); });
}

void Session::Impl::onStarted(Result<json> answer) {
    if (!m_job || !m_link) return;  // lost meanwhile; the job was told so
    if (!answer) {
        Finished refused;
        refused.status = m_job->cancelling ? RunStatus::cancelled : RunStatus::failed;
        refused.error = m_job->abandoned.value_or(answer.error());
        return endJob(std::move(refused));
    }
    const auto started = jobStartedFromJson(*answer);
    if (!started) return giveUpBroken(started.error());
    m_job->started = true;
    m_job->lastSign = Clock::now();
    if (m_job->everStarted) return;  // a restart: the run's header says all of it already
    m_job->everStarted = true;
    RunHeader& header = m_job->header;
    header.environment = started->environment;
    header.model = started->model;
    header.weights = started->weights;
    header.device = started->device;
    header.dtype = started->dtype;
    header.settings = started->settings;
    header.status = RunStatus::running;
    header.when = timeStamp();
    if (m_store && findRowType(header.kind)) {  // a job that measures nothing, such as model_get, leaves no run
        auto opened = openRun();
        if (!opened) return abandon(opened.error());
        header = std::move(*opened);
    }
    if (m_listener.jobStarted) m_listener.jobStarted(header);
}

/// The run that the rows go to: a new one, or the one to continue.
Result<RunHeader> Session::Impl::openRun() {
    return m_job->resumes.empty() ? m_store->createRun(m_job->header) : m_store->resumeRun(m_job->resumes);
}

void Session::Impl::onProgress(const json& params) {
    auto progress = progressFromJson(params);
    if (!progress) return log("not understood: " + progress.error().message);
    m_job->lastSign = Clock::now();
    // Counts are the engine's word; a bar cannot show -3 of 2.
    progress->total = std::max<std::int64_t>(progress->total, 0);
    progress->done = std::max<std::int64_t>(progress->done, 0);
    if (progress->total > 0) progress->done = std::min(progress->done, progress->total);
    m_job->phase = progress->phase;
    m_job->cell = progress->cell;
    flushRows();
    if (m_listener.progress) m_listener.progress(*progress);
}

void Session::Impl::onRow(const json& params) {
    auto row = rowRecordFromJson(params);
    if (!row) return log("not understood: " + row.error().message);
    m_job->lastSign = Clock::now();
    if (row->type == m_job->header.kind && isResumable(row->type)) {
        // Only a new row is progress: an engine that measures the same one and dies, again and again, gets nowhere.
        if (m_job->measured.insert(row->key).second) m_job->fruitlessDeaths = 0;
        m_job->crashesInARow.erase(keyPrefix(row->key, 2));
        if (row->key == m_job->cell) m_job->cell.clear();
    }
    m_job->pending.push_back(std::move(*row));
    // A batch is what one read of the pipe held; a flood of rows is written piece by piece.
    constexpr std::size_t kBatch = 4096;
    if (m_job->pending.size() >= kBatch) flushRows();
}

void Session::Impl::flushRows() {
    if (!m_job || m_job->pending.empty()) return;
    const auto rows = std::exchange(m_job->pending, {});
    if (m_store && !m_job->header.id.empty()) {
        if (const auto stored = m_store->putRows(m_job->header.id, rows); !stored) return abandon(stored.error());
    }
    if (m_listener.row)
        for (const RowRecord& row : rows) m_listener.row(row);
}

void Session::Impl::onFinished(const json& params) {
    auto finished = finishedFromJson(params);
    if (!finished) return giveUpBroken(finished.error());
    // A cell that faulted the device fails the whole job in the engine's eyes; to us it is one cell of many.
    if (finished->status == RunStatus::failed && !m_job->cell.empty() && isResumable(m_job->header.kind) && !m_job->stopping())
        return m_link->giveUp(finished->error);
    endJob(std::move(*finished));
}

void Session::Impl::cancelJob() {
    if (!m_job || m_job->cancelling) return;
    m_job->cancelling = true;
    if (!m_job->sent) {
        Finished cancelled;
        cancelled.status = RunStatus::cancelled;
        return endJob(std::move(cancelled));
    }
    askToStop();
}

void Session::Impl::abandon(Error why) {
    if (!m_job || m_job->abandoned) return;
    m_job->abandoned = std::move(why);
    askToStop();
}

void Session::Impl::askToStop() {
    m_job->stopBy = Clock::now() + m_options.cancelGrace;
    if (m_link) m_link->request("job.cancel", json::object(), [](Result<json>) {});
}

void Session::Impl::jobLostItsEngine(const Error& why, bool hung) {
    RunningJob& job = *m_job;
    const std::string cell = std::exchange(job.cell, {});
    const bool wasSent = job.sent;
    job.sent = job.started = false;
    Finished finished;
    finished.status = job.cancelling ? RunStatus::cancelled : RunStatus::failed;
    finished.error = job.abandoned.value_or(why);
    if (finished.status == RunStatus::failed && !job.abandoned && wasSent && !job.phase.empty())
        finished.error.message += " (during: " + job.phase + ")";
    if (job.cancelling) finished.error = {};
    if (job.stopping() || !job.everStarted || !isResumable(job.header.kind)) return endJob(std::move(finished));

    if (auto row = rowOfLostCell(job.header.kind, cell, hung ? "hung" : "crashed", why.message)) {
        job.fruitlessDeaths = 0;
        job.measured.insert(cell);
        ++job.crashesInARow[keyPrefix(cell, 2)];
        job.pending.push_back(std::move(*row));
        flushRows();
        if (job.abandoned) return endJob(std::move(finished));
    } else if (++job.fruitlessDeaths >= kFruitlessDeaths) {
        return endJob(std::move(finished));
    }
    log("starting the engine again: " + why.message);
    ensureEngine();
}

void Session::Impl::endJob(Finished finished) {
    flushRows();
    if (m_job->abandoned && !m_job->cancelling) {
        finished.status = RunStatus::failed;
        finished.error = *m_job->abandoned;
    }
    RunHeader& header = m_job->header;
    if (m_job->cancelling && finished.status == RunStatus::failed) finished.status = RunStatus::cancelled;
    header.status = finished.status;
    header.reason = finished.status == RunStatus::done ? std::string() : finished.error.message;
    if (finished.status == RunStatus::cancelled) header.reason = "cancelled by the user";
    header.headline = finished.headline;
    header.result = finished.result;
    if (m_store && !header.id.empty()) {
        if (header.headline.empty() && header.kind == RowSchema<ProfileRow>::kName) {
            std::vector<ProfileRow> rows;
            if (const auto stored = m_store->rows(header.id, header.kind))
                for (const RowRecord& record : *stored)
                    if (auto row = rowFrom<ProfileRow>(record.values)) rows.push_back(std::move(*row));
            header.headline = finished.headline = profileHeadline(rows);
        }
        if (const auto updated = m_store->updateRun(header); !updated && finished.status != RunStatus::failed) {
            finished.status = header.status = RunStatus::failed;
            finished.error = updated.error();
        }
    }
    const RunHeader last = header;
    m_job.reset();
    if (m_link && m_link->ready()) setState(EngineState::idle);
    if (m_listener.jobFinished) m_listener.jobFinished(last, finished);
    {
        const std::lock_guard lock(m_mutex);
        m_jobActive = false;
    }
    m_jobEnded.notify_all();
}

// ---- what others see

Session::Session(SessionOptions options, Store* store, SessionListener listener)
    : m_impl(std::make_unique<Impl>(std::move(options), store, std::move(listener))) {}

Session::~Session() = default;

void Session::connect() { m_impl->post([impl = m_impl.get()] { impl->connect(); }); }

Result<void> Session::start(JobRequest request, std::string command) { return m_impl->start(std::move(request), std::move(command)); }

Result<void> Session::resume(std::string runId, JobRequest request) { return m_impl->start(std::move(request), {}, std::move(runId)); }

void Session::cancel() { m_impl->post([impl = m_impl.get()] { impl->cancelJob(); }); }

void Session::call(std::string method, nlohmann::json params, std::function<void(Result<nlohmann::json>)> done) {
    m_impl->post([impl = m_impl.get(), method = std::move(method), params = std::move(params), done = std::move(done)]() mutable {
        impl->call(std::move(method), std::move(params), std::move(done));
    });
}

void Session::wait() { m_impl->wait(); }

EngineState Session::state() const { return m_impl->state(); }

}  // namespace kernelscope
