#pragma once
// The run store: one SQLite file (WAL), one typed table a row type, every row committed as it arrives.
// Safe to open from several processes and threads at once.

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
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
    bool deleted = false;
};

class Store {
public:
    /// Opens or creates; a missing folder is made. ":memory:" is a store that vanishes with the object.
    /// Errors: environment (not writable, newer schema, not a database: named, with the way out).
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path& file);
    /// For looking: as open(), and where file or folder cannot be written, the runs as they stand; every change is then an
    /// error. A store of an older version is brought up to date in memory. Errors: as open, and no such file.
    static Result<std::unique_ptr<Store>> openToRead(const std::filesystem::path& file);
    /// $XDG_DATA_HOME/kernelscope/runs.sqlite, or the platform's equivalent.
    static std::filesystem::path defaultPath();
    ~Store();

    /// Inserts the header (id is made when empty) and returns it. The calling process owns the run while it is
    /// `running`: a later open() that finds its owner gone marks it `interrupted`.
    Result<RunHeader> createRun(RunHeader header);
    Result<void> updateRun(const RunHeader& header);
    /// Takes the run over again, as `running`, to continue it. Errors: badInput when another live process owns it.
    Result<RunHeader> resumeRun(const std::string& runId);
    /// Inserts, or replaces the row of the same type and key (which keeps its place). An empty key never matches.
    Result<void> putRow(const std::string& runId, const RowRecord& row);
    Result<void> putRows(const std::string& runId, std::span<const RowRecord> rows);  ///< one transaction

    enum class Which { kept, deleted };
    /// Newest first; without deleted runs unless asked for those. Their environment, settings and result are left
    /// empty: run() has them.
    Result<std::vector<RunSummary>> runs(Which which = Which::kept) const;
    /// By id or unique prefix of it; "last" is the newest. Errors: badInput, with the nearest ids.
    Result<RunSummary> run(const std::string& id) const;
    /// In the order in which the keys first came.
    Result<std::vector<RowRecord>> rows(const std::string& runId, const std::string& type) const;
    /// A page of the same.
    Result<std::vector<RowRecord>> rows(const std::string& runId, const std::string& type, std::int64_t offset, std::int64_t count) const;
    /// Those whose text column `column` holds `text`, such as the samples of one row.
    Result<std::vector<RowRecord>> rowsWhere(const std::string& runId, const std::string& type, const std::string& column, const std::string& text) const;
    Result<std::int64_t> rowCount(const std::string& runId, const std::string& type) const;
    /// Which columns hold anything in any row, in the columns' order.
    Result<std::vector<bool>> filledColumns(const std::string& runId, const std::string& type) const;

    // What a user does with a run. `id` as in run(); errors: badInput.
    /// The new id: letters, digits, dot, dash, underscore; not taken, not "last".
    Result<void> rename(const std::string& id, const std::string& newId);
    /// May a new run be called so? Ids of deleted runs are taken too.
    [[nodiscard]] bool isFreeId(const std::string& id) const;
    Result<void> setTags(const std::string& id, const std::vector<std::string>& tags);
    Result<void> setNote(const std::string& id, const std::string& note);
    Result<void> setPinned(const std::string& id, bool pinned);
    /// Hides the run; restore() brings it back.
    Result<void> remove(const std::string& id);
    Result<void> restore(const std::string& id);

    [[nodiscard]] const std::filesystem::path& path() const;
    [[nodiscard]] bool isReadOnly() const;

private:
    class Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    void noticeOrphans() const;
    std::unique_ptr<Impl> m_impl;
};

/// Now, as runs note it: ISO 8601, UTC, seconds.
std::string timeStamp();

}  // namespace kernelscope
