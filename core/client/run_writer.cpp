#include "core/client/run_writer.h"

#include "core/records/headline.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"

namespace kernelscope {
namespace {

template <typename Row>
std::vector<Row> rowsOf(const Store& store, const RunHeader& header) {
    std::vector<Row> rows;
    if (const auto stored = store.rows(header.id, header.kind))
        for (const RowRecord& record : *stored)
            if (auto row = rowFrom<Row>(record.values)) rows.push_back(std::move(*row));
    return rows;
}

}  // namespace

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
        header.headline = finished.headline = profileHeadline(rowsOf<ProfileRow>(*m_store, header), header.result);
    }
    // Of all rows, those of earlier engines and sittings included: the engine knows its own only.
    if (header.kind == RowSchema<SweepRow>::kName) {
        if (const auto rows = rowsOf<SweepRow>(*m_store, header); !rows.empty()) header.headline = finished.headline = sweepHeadline(rows, header.settings.value("baseline", "native"));
    } else if (header.kind == RowSchema<ValidateRow>::kName) {
        if (const auto rows = rowsOf<ValidateRow>(*m_store, header); !rows.empty()) header.headline = finished.headline = validateHeadline(rows);
    }
    if (const auto updated = m_store->updateRun(header); !updated && finished.status != RunStatus::failed) {
        finished.status = header.status = RunStatus::failed;
        finished.error = updated.error();
    }
}

}  // namespace kernelscope
