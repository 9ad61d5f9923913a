#pragma once
// The inside of a session: one thread that owns the engine and the job in hand. session.cpp has the thread and the engine,
// session_job.cpp the job.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/client/engine_link.h"
#include "core/client/run_writer.h"
#include "core/client/running_job.h"
#include "core/client/session.h"
#include "core/client/spread.h"

namespace kernelscope {

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

    /// `resumes`: a run to continue; empty: a new one. `writer`: where its rows go.
    Result<void> start(JobRequest request, std::string command, std::string resumes, std::shared_ptr<RunWriter> writer) {
        {
            const std::lock_guard lock(m_mutex);
            if (m_jobActive) return makeError(ErrorCode::usage, "a job is running already", "cancel it, or wait for its end");
            m_jobActive = true;
        }
        if (request.device.find(',') != std::string::npos) {
            post([this, request = std::move(request), command = std::move(command), resumes = std::move(resumes)]() mutable {
                beginSpread(std::move(request), std::move(command), std::move(resumes));
            });
            return {};
        }
        post([this, request = std::move(request), command = std::move(command), resumes = std::move(resumes), writer = std::move(writer)]() mutable {
            beginJob(std::move(request), std::move(command), std::move(resumes), std::move(writer));
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
    void call(std::string method, nlohmann::json params, std::function<void(Result<nlohmann::json>)> done);

private:
    void loop();
    std::chrono::milliseconds untilNextDeadline() const;
    void checkDeadlines();
    void setState(EngineState state, const std::string& why = {});

    bool ensureEngine();
    void onHello(const Hello& hello);
    void onNotification(const std::string& method, const nlohmann::json& params);
    void engineLost(Error why, bool hung = false);

    void beginJob(JobRequest request, std::string command, std::string resumes, std::shared_ptr<RunWriter> writer);
    void beginSpread(JobRequest request, std::string command, std::string resumes);
    void tellEnd(const RunHeader& run, const Finished& finished);
    void sendJob();
    void onStarted(Result<nlohmann::json> answer);
    void onProgress(const nlohmann::json& params);
    void onRow(const nlohmann::json& params);
    void onFinished(const nlohmann::json& params);
    void flushRows();
    void abandon(Error why);
    void giveUpBroken(const Error& nonsense) {
        m_link->giveUp(makeError(ErrorCode::environment, "the engine broke the protocol and was stopped: " + nonsense.message,
                                 "install the same version of Kernelscope on both sides; what was measured until then is kept"));
    }
    void askToStop();
    void jobLostItsEngine(const Error& why, const std::string& diedOf, bool hung, bool cut);
    void connectLater(const Error& why);
    void endJob(Finished finished);
    std::chrono::milliseconds silenceDeadline() const;
    void log(const std::string& line) { if (m_listener.log) m_listener.log(line); }
    void logOfEngine(const std::string& line);

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
    std::optional<std::chrono::steady_clock::time_point> m_connectAt;  ///< while a job waits for its connection to come back
    std::optional<RunningJob> m_job;
    std::unique_ptr<SpreadSession> m_spread;  ///< instead of m_job: the engines of a job on several devices
    struct WaitingCall {
        std::string method;
        nlohmann::json params;
        std::function<void(Result<nlohmann::json>)> done;
    };
    std::deque<WaitingCall> m_waitingCalls;
    std::chrono::steady_clock::time_point m_logSecond{};  ///< when the second began whose lines are counted
    std::int64_t m_logLines = 0;
    std::thread m_thread;  // last: it uses all of the above
};

}  // namespace kernelscope
