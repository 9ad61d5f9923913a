#pragma once
// The job that a session has in hand: what was asked, what has arrived, how it shall end. No process, no thread.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/records/protocol.h"
#include "core/records/run.h"

namespace kernelscope {

/// Kinds whose rows stand alone: after a crash the engine goes on with the rows that are missing.
bool isResumable(std::string_view kind);

class RunWriter;

struct RunningJob {
    std::shared_ptr<RunWriter> writer;  ///< where the rows go
    JobRequest request;
    std::string resumes;         ///< id of the run to continue; empty: a new one
    RunHeader header;            ///< id empty: no run in the store
    bool sent = false;           ///< job.start is on its way to the present engine
    bool started = false;        ///< the present engine has taken it
    bool everStarted = false;
    bool cancelling = false;
    std::optional<Error> abandoned;  ///< ends as failed with this, once the engine has stopped
    std::chrono::steady_clock::time_point stopBy;  ///< while cancelling or abandoned
    std::chrono::steady_clock::time_point lastSign;  ///< of life from the job; telemetry does not count
    std::string phase, cell;
    std::string kernel;          ///< what of a patch runs now (kernel_fault.h)
    std::string lastKernel;      ///< what of a patch has run in the present engine
    std::string device;          ///< "cuda:1", as far as the request or a row said
    std::set<std::string> measured;  ///< keys of the run's own rows
    std::vector<RowRecord> pending;  ///< arrived, not yet in the store
    std::map<std::string, RowRecord> unfinished;  ///< rows of the run's own kind that say `running`, by key
    int lostConnections = 0;         ///< in a row without a new row
    int fruitlessDeaths = 0;         ///< engines lost in a row without a new row and without a cell to blame
    std::map<std::string, int> crashesInARow;  ///< by "op|variant"

    /// Single calls of a patch's kernels run, at the model's shapes.
    [[nodiscard]] bool provesPatch() const;
    /// Remembers a row that says of itself that it is not final yet, and forgets it when it is.
    void noteProgressOf(const RowRecord& row);
    /// Those rows as a job that ended as `status` leaves them; none afterwards.
    std::vector<RowRecord> finishRows(RunStatus status);
    [[nodiscard]] bool stopping() const { return cancelling || abandoned.has_value(); }
};

/// The row of the cell in hand, which took its engine with it; nullopt when there is none or its key says nothing.
std::optional<RowRecord> rowOfLostCell(const RunningJob& job, const std::string& cell, const std::string& status, const std::string& reason);
/// "400 ms", "2.50 s", "10 s": a deadline, for people.
std::string inWords(std::chrono::milliseconds time);
/// A kernel that took the engine along, alone or in a model: who, in words, and what to do. `diedOf`: how the process ended; empty: it was
/// silent for `silence` and killed. Nullopt where no kernel is to blame.
std::optional<Error> kernelToBlame(const RunningJob& job, const std::string& diedOf, std::optional<std::chrono::milliseconds> silence);
/// What a row says of the device it was measured on; empty when it says nothing.
std::string deviceOf(const RowRecord& row);

}  // namespace kernelscope
