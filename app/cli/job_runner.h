#pragma once
// Runs one job of a command: engine, progress, cancelling, the run in the store, its CSV and JSON.

#include <chrono>
#include <functional>
#include <memory>

#include "app/cli/command.h"

namespace kernelscope::cli {

struct JobRun {
    RunHeader header;   ///< id empty when the job never started
    Finished finished;
    Store* store = nullptr;
    std::vector<RowRecord> rows;  ///< of the run's own kind, as stored
};

struct JobHooks {
    bool keeps = true;    ///< false: a job that measures nothing; the store is not opened, --csv and --json are the command's own
    std::string resumes;  ///< id of a run to continue; empty: a new one
    std::function<void(const RunHeader&)> started;  ///< on the session's thread
    std::function<void(const RowRecord&)> row;      ///< on the session's thread, as it arrives
    /// After the end, when a run exists or none is kept: prints the table for people. Standard output is theirs alone then.
    std::function<void(const JobRun&)> table;
    /// Exit code of a job that came to its end; 0 where there is nothing to judge.
    std::function<int(const JobRun&)> judge;
    /// After the documents: more files of the command's own. 0 or an exit code.
    std::function<int(const JobRun&)> afterwards;
};

/// The request that the common options make.
JobRequest jobRequest(const CommonOptions& common, const std::string& kind);

/// One engine for several jobs after one another: for commands that stay.
class JobRunner {
public:
    explicit JobRunner(const CommonOptions& common);  ///< `common` must outlive it
    ~JobRunner();
    JobRunner(const JobRunner&) = delete;
    JobRunner& operator=(const JobRunner&) = delete;

    /// Store (unless nothing is kept), documents, session. 0, or the exit code of what was said on standard error. Before anything else.
    int open(bool keeps = true);
    /// Runs a job to its end and returns its exit code. `kept` gets what it came to.
    int run(JobRequest request, const JobHooks& hooks, JobRun* kept = nullptr);
    /// From any thread: ends the job that runs, and not the program.
    void cancelRun();
    /// Asks the engine something; also while a job runs. From one thread at a time.
    Result<nlohmann::json> ask(const std::string& method, nlohmann::json params);
    /// Has the user asked to stop (Ctrl+C)?
    [[nodiscard]] bool stopped() const;
    /// Waits that long. False as soon as the user asks to stop.
    bool pause(std::chrono::milliseconds time);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// Runs it; writes what --csv and --json ask for, whatever the end, as long as there is a run. Returns the exit code.
int runJob(const CommonOptions& common, JobRequest request, const JobHooks& hooks);

/// "Qwen2.5-0.5B (random weights) on NVIDIA H200, float16"
std::string describe(const RunHeader& header);

}  // namespace kernelscope::cli
