#pragma once
// One engine and the jobs given to it: starts it, speaks to it, stores what it says, restarts it when it dies.
// The window and the command line both use this and nothing below it.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/records/protocol.h"
#include "core/records/result.h"
#include "core/records/run.h"

namespace kernelscope {

class RunWriter;
class Store;

/// How to start an engine: argv, never a shell. Empty: the kernelscope-engine beside this program.
struct EngineCommand {
    std::vector<std::string> argv;
};

/// Splits a command line as a POSIX shell would split it (quotes and backslashes), without running one.
Result<EngineCommand> parseEngineCommand(const std::string& text);
/// The engine beside this executable (same folder, then ../libexec), or $KERNELSCOPE_ENGINE (split likewise).
Result<EngineCommand> defaultEngineCommand();

/// How long a command may take to say hello. What is no kernelscope-engine and runs on this machine gets ten seconds; what may
/// reach another machine a minute; the engine itself, whose cold start loads 3 GB of libraries, three.
std::chrono::milliseconds helloDeadlineFor(const EngineCommand& command);

enum class EngineState { stopped, starting, idle, busy, lost };

/// All calls come from the session's own thread, one at a time, in the order in which things happened.
struct SessionListener {
    std::function<void(EngineState, const std::string& why)> engineState;
    std::function<void(const Hello&)> hello;
    std::function<void(const Telemetry&)> telemetry;
    std::function<void(const RunHeader&)> jobStarted;   ///< the run now exists in the store
    std::function<void(const Progress&)> progress;
    std::function<void(const RowRecord&)> row;          ///< already in the store
    std::function<void(const RunHeader&, const Finished&)> jobFinished;  ///< exactly once a started job; header as stored
    std::function<void(const std::string& line)> log;   ///< the engine's stderr and anything it said before hello
};

struct SessionOptions {
    EngineCommand engine;
    std::chrono::milliseconds helloDeadline{60'000};   ///< a cold start loads 3 GB of libraries
    std::chrono::milliseconds silenceDeadline{120'000};  ///< a busy engine that says nothing this long is hung
    std::chrono::milliseconds cancelGrace{1'000};      ///< after a cancel, before the engine is killed
    std::chrono::milliseconds reconnectPause{1'000};   ///< before a lost connection is tried again; doubles up to ten times this
    int telemetryIntervalMs = 1000;                    ///< 0: none
};

class Session {
public:
    /// `store` may be null (nothing is kept) and must outlive the session. The listener is called from the session's thread.
    Session(SessionOptions options, Store* store, SessionListener listener);
    ~Session();  ///< cancels, stops the engine, joins
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Starts the engine and says hello; later calls do it themselves when needed. Returns at once.
    void connect();

    /// Starts a job. Returns at once; everything else arrives at the listener. A job that cannot start at all
    /// (engine missing, request refused) still ends with one jobFinished (status failed). `command` is kept in
    /// the run as the command line that repeats it. Refused with an error while another job runs. A sweep whose device is a
    /// list ("cuda:0,cuda:1") is spread over engines of its own, one a device.
    Result<void> start(JobRequest request, std::string command);

    /// The same, but continues a run of the store: its rows are not measured again, new ones join them. A run that is
    /// unknown or still running elsewhere ends the job as failed (badInput).
    Result<void> resume(std::string runId, JobRequest request);

    /// One of several engines that work on the same run (spread.h): as start() or resume(), but `writer` decides where the
    /// rows go.
    Result<void> startPart(JobRequest request, std::string command, std::string resumes, std::shared_ptr<RunWriter> writer);

    /// Asks the running job to stop. It ends as cancelled within `cancelGrace`; rows stay.
    void cancel();

    /// A request with an answer (device.list, model.inspect). `done` is called on the session's thread.
    void call(std::string method, nlohmann::json params, std::function<void(Result<nlohmann::json>)> done);

    /// Blocks until no job runs. For the command line.
    void wait();

    [[nodiscard]] EngineState state() const;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace kernelscope
