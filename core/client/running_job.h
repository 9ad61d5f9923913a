#pragma once
// The job that a session has in hand: what was asked, what has arrived, how it shall end. No process, no thread.

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/records/protocol.h"
#include "core/records/run.h"

namespace kernelscope {

/// Kinds whose rows stand alone: after a crash the engine goes on with the rows that are missing.
bool isResumable(std::string_view kind);

struct RunningJob {
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
    std::set<std::string> measured;  ///< keys of the run's own rows
    std::vector<RowRecord> pending;  ///< arrived, not yet in the store
    int fruitlessDeaths = 0;         ///< engines lost in a row without a new row and without a cell to blame
    std::map<std::string, int> crashesInARow;  ///< by "op|variant"

    [[nodiscard]] bool stopping() const { return cancelling || abandoned.has_value(); }
};

/// The row of a cell that took its engine with it; nullopt when the key says nothing.
std::optional<RowRecord> rowOfLostCell(const std::string& kind, const std::string& cell, const std::string& status, const std::string& reason);

}  // namespace kernelscope
