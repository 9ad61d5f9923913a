#include "core/client/session.h"

#include <algorithm>
#include <cmath>

#include "core/client/session_impl.h"
#include "core/records/json_read.h"
#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {
/// How long an engine that is no longer wanted may take to leave.
constexpr auto kLeaveGrace = milliseconds(1000);
constexpr auto kForever = milliseconds(3'600'000);
/// A single call of a patch's kernel at the model's shapes: as patient as validate is by default.
constexpr auto kPatchDeadline = milliseconds(10'000);
}  // namespace

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
        if (m_stop && !m_job && !m_spread) break;
        if (!m_link) {
            const auto pause = m_connectAt ? std::chrono::duration_cast<milliseconds>(*m_connectAt - Clock::now()) : kForever;
            if (pause > milliseconds(0)) waitForWakeUp(m_wakeUp, pause + milliseconds(1));
            else ensureEngine();
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
    if (m_job && m_job->provesPatch()) return std::min(m_options.silenceDeadline, kPatchDeadline);
    if (m_job && !m_job->cell.empty())
        for (const json* settings : {&m_job->request.settings, &m_job->header.settings})
            if (settings->is_object() && settings->contains("deadline"))
                if (const auto seconds = numberOf((*settings)["deadline"]); seconds && *seconds > 0 && *seconds < 1e6)
                    return milliseconds(static_cast<std::int64_t>(std::ceil(*seconds * 1000)));
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
    const auto kill = [&](Error why, bool hung) {
        m_link->giveUp(why);
        engineLost(std::move(why), hung);
    };
    if (m_job && m_job->stopping() && now >= m_job->stopBy) {
        kill(makeError(ErrorCode::environment, "the engine did not stop when asked to and was killed"), false);
    } else if (m_job && m_job->sent && now >= m_job->lastSign + silenceDeadline()) {
        kill(makeError(ErrorCode::environment, "the engine said nothing for " + inWords(silenceDeadline()) + " and was killed"), true);
    } else if (!m_job && m_link->ready() && m_link->waitsForAnswers() && now >= m_link->lastHeard() + m_options.silenceDeadline) {
        kill(makeError(ErrorCode::environment, "the engine gave no answer for " + inWords(m_options.silenceDeadline) + " and was killed"), true);
    }
}

// ---- the engine

bool Session::Impl::ensureEngine() {
    if (m_link) return true;
    m_connectAt.reset();
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
                              [this](const std::string& line) { logOfEngine(line); }};
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
    auto link = std::move(m_link);
    const bool cut = link && link->cut() && !hung;
    // One that had to be killed for a cancel is not missed: the next job starts another.
    if (m_job && m_job->cancelling) setState(EngineState::stopped);
    else setState(EngineState::lost, why.message);
    const std::string diedOf = link && !hung ? link->diedOf() : std::string();
    if (link) link->failRequests(why);
    link.reset();
    for (const WaitingCall& call : std::exchange(m_waitingCalls, {})) call.done(why);
    if (m_job) jobLostItsEngine(why, diedOf, hung, cut);
}

/// What an engine says is not to fill a terminal, or the window that shows it, however fast it comes.
void Session::Impl::logOfEngine(const std::string& line) {
    constexpr int kLinesASecond = 1000;
    constexpr std::size_t kLongest = 4096;
    const auto now = Clock::now();
    if (now - m_logSecond >= std::chrono::seconds(1)) {
        if (m_logLines > kLinesASecond) log("(" + std::to_string(m_logLines - kLinesASecond) + " more lines)");
        m_logSecond = now;
        m_logLines = 0;
    }
    if (++m_logLines <= kLinesASecond) log(line.size() > kLongest ? validUtf8(line.substr(0, kLongest)) + " ..." : line);
}

void Session::Impl::onNotification(const std::string& method, const json& params) {
    if (method == "telemetry") {
        if (const auto telemetry = telemetryFromJson(params)) {
            if (m_listener.telemetry) m_listener.telemetry(*telemetry);
        } else logOfEngine("not understood: " + telemetry.error().message);
    } else if (method == "log") {
        if (const auto text = params.find("text"); text != params.end() && text->is_string()) logOfEngine(text->get<std::string>());
    } else if (!m_job || !m_job->started) {
        logOfEngine("the engine sent " + validUtf8(method.substr(0, 100)) + " without a job");
    } else if (method == "job.progress") {
        onProgress(params);
    } else if (method == "job.row") {
        onRow(params);
    } else if (method == "job.finished") {
        onFinished(params);
    } else {
        logOfEngine("the engine sent an unknown notification: " + validUtf8(method.substr(0, 100)));
    }
}

// ---- what others see

Session::Session(SessionOptions options, Store* store, SessionListener listener)
    : m_impl(std::make_unique<Impl>(std::move(options), store, std::move(listener))) {}

Session::~Session() = default;

void Session::connect() { m_impl->post([impl = m_impl.get()] { impl->connect(); }); }

Result<void> Session::start(JobRequest request, std::string command) { return m_impl->start(std::move(request), std::move(command), {}, nullptr); }

Result<void> Session::resume(std::string runId, JobRequest request) { return m_impl->start(std::move(request), {}, std::move(runId), nullptr); }

Result<void> Session::startPart(JobRequest request, std::string command, std::string resumes, std::shared_ptr<RunWriter> writer) {
    return m_impl->start(std::move(request), std::move(command), std::move(resumes), std::move(writer));
}

void Session::cancel() { m_impl->post([impl = m_impl.get()] { impl->cancelJob(); }); }

void Session::call(std::string method, nlohmann::json params, std::function<void(Result<nlohmann::json>)> done) {
    m_impl->post([impl = m_impl.get(), method = std::move(method), params = std::move(params), done = std::move(done)]() mutable {
        impl->call(std::move(method), std::move(params), std::move(done));
    });
}

void Session::wait() { m_impl->wait(); }

EngineState Session::state() const { return m_impl->state(); }

}  // namespace kernelscope
