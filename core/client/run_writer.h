#pragma once
// Where the rows of a job go: a run of the store, or nowhere.

#include <span>
#include <string>

#include "core/client/store.h"
#include "core/records/protocol.h"

namespace kernelscope {

class RunWriter {
public:
    /// `store` null: nothing is kept. It must outlive the writer.
    explicit RunWriter(Store* store) : m_store(store) {}
    virtual ~RunWriter() = default;

    /// Makes the run, or takes up again the one that `resumes` names; returns its header as stored.
    virtual Result<RunHeader> open(const RunHeader& header, const std::string& resumes);
    /// Rows of an opened run: on disk when this returns. A header without an id is no run, and nothing happens.
    virtual Result<void> put(const RunHeader& header, std::span<const RowRecord> rows);
    /// The job's end, once, opened or not. Completes what only the rows tell (a profile's headline); where it cannot be
    /// written, the job becomes a failed one.
    virtual void close(RunHeader& header, Finished& finished);

protected:
    Store* const m_store;
};

}  // namespace kernelscope
