#pragma once
// The run store: one SQLite file (WAL), one typed table a row type, every row committed as it arrives.
// Safe to open from several processes and threads at once.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/records/result.h"
#include "core/records/run.h"

namespace kernelscope {

struct RunSummary {
    RunHeader header;
    std::int64_t rows = 0;  ///< rows of the run's own kind
    std::vector<std::string> tags;
    std::string note;
    bool pinned = false;
};

class Store {
public:
    /// Opens or creates; a missing folder is made. Errors: environment (not writable, newer schema, not a database: named, with the way out).
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path& file);
    /// $XDG_DATA_HOME/kernelscope/runs.sqlite, or the platform's equivalent.
    static std::filesystem::path defaultPath();
    ~Store();

    /// Inserts the header (id is made when empty) and returns it. The calling process owns the run while it is
    /// `running`: a later open() that finds its owner gone marks it `interrupted`.
    Result<RunHeader> createRun(RunHeader header);
    Result<void> updateRun(const RunHeader& header);
    /// Inserts, or replaces the row of the same type and key (which keeps its place).
    Result<void> putRow(const std::string& runId, const RowRecord& row);
    Result<void> putRows(const std::string& runId, std::span<const RowRecord> rows);  ///< one transaction

    /// Newest first. Deleted runs are left out.
    Result<std::vector<RunSummary>> runs() const;
    /// By id or unique prefix of it; "last" is the newest. Errors: badInput, with the nearest ids.
    Result<RunSummary> run(const std::string& id) const;
    Result<std::vector<RowRecord>> rows(const std::string& runId, const std::string& type) const;

    [[nodiscard]] const std::filesystem::path& path() const;

private:
    class Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace kernelscope
