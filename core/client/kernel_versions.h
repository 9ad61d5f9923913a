#pragma once
// A kernel that is being worked on: what each saved version of it came to, and what changed from one to the next.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/records/protocol.h"
#include "core/records/run.h"

namespace kernelscope {

struct KernelVersion {
    struct Cell {
        std::string status;
        std::optional<double> deviceUs, lowUs, highUs, speedup;
        std::optional<double> speedupLow, speedupHigh;
    };
    int number = 0;         ///< from 1, in the order in which they were saved
    std::string version;    ///< of the file's contents; empty where it could not be read
    std::string runId;      ///< empty where there is none
    /// compiled: false when the file could not become a kernel; `message` then says why, file:line first. `state` tells what does not compile from what
    /// crashes while it is loaded (crashed) and from what cannot be tried for another reason (failed).
    bool compiled = false;
    std::string message;
    std::string state;      ///< right, other_order, wrong, refused, crashed, hung, not compiled, cancelled, failed
    std::string firstWrong; ///< the first cell that is not right, and why
    std::optional<double> speedup;  ///< over the baseline, geometric mean of its cells
    std::map<std::string, Cell> cells;  ///< by "operator type rows x hidden" and case or cache
};

/// What a validate or sweep run of the kernel `variant` says. `rows` are the run's own.
KernelVersion versionOf(const RunHeader& header, const Finished& finished, std::span<const RowRecord> rows, const std::string& variant);

/// "compiles, right in 24 of 24 cells, 1.84x native (geometric mean)"
std::string versionWords(const KernelVersion& version);

/// What changed, a line each: whether it compiles, what became wrong or right, which cells are faster and slower beyond their
/// intervals, those of their times and those of their speed-ups over the baseline of the same run. Differences within them are called noise, and
/// those between two runs of the same source no change at all. Empty when there is nothing to compare.
std::vector<std::string> changesBetween(const KernelVersion& before, const KernelVersion& now);

/// A file whose contents are looked at again and again: one version a save, also where an editor writes another file in its place.
class VersionWatch {
public:
    /// `version` is what the file holds now, empty when it cannot be read at the moment. True once for every version that is new and
    /// was seen twice in a row: a file that is being written changes between two looks.
    bool look(const std::string& version);
    [[nodiscard]] const std::string& current() const { return m_current; }

private:
    std::string m_current, m_seen;
};

}  // namespace kernelscope
