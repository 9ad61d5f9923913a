#include "core/client/run_writer.h"

#include "core/records/headline.h"
#include "core/records/rows.h"

namespace kernelscope {

Result<RunHeader> RunWriter::open(const RunHeader& header, const std::string& resumes) {
    if (!m_store || !findRowType(header.kind)) return header;  // a job that measures nothing, such as model_get, leaves no run
    return resumes.empty() ? m_store->createRun(header) : m_store->resumeRun(resumes);
}

Result<void> RunWriter::put(const RunHeader& header, std::span<const RowRecord> rows) {
    if (!m_store || header.id.empty()) return {};
    return m_store->putRows(header.id, rows);
}

void RunWriter::close(RunHeader& header, Finished& finished) {
    if (!m_store || header.id.empty()) return;
    if (header.headline.empty() && header.kind == RowSchema<ProfileRow>::kName) {
        std::vector<ProfileRow> rows;
        if (const auto stored = m_store->rows(header.id, header.kind))
            for (const RowRecord& record : *stored)
                if (auto row = rowFrom<ProfileRow>(record.values)) rows.push_back(std::move(*row));
        header.headline = finished.headline = profileHeadline(rows, header.result);
    }
    if (const auto updated = m_store->updateRun(header); !updated && finished.status != RunStatus::failed) {
        finished.status = header.status = RunStatus::failed;
        finished.error = updated.error();
    }
}

}  // namespace kernelscope
