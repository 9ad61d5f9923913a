#pragma once
// A run as a page holds it: its header and its rows, live or from the store.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/client/store.h"
#include "core/records/row.h"
#include "core/records/run.h"

namespace kernelscope::ui {

class RunRows {
public:
    RunRows() = default;
    explicit RunRows(RunHeader header) : m_header(std::move(header)) {}

    /// Rows of another type than the run's kind (samples, say) are kept apart.
    void apply(RowRecord record);
    void setHeader(RunHeader header) { m_header = std::move(header); }

    [[nodiscard]] const RunHeader& header() const { return m_header; }
    [[nodiscard]] const std::vector<RowRecord>& records() const { return m_records; }
    [[nodiscard]] const std::vector<RowRecord>& others() const { return m_others; }
    [[nodiscard]] bool empty() const { return m_records.empty(); }

    /// Records of the run's own kind as structs; those that do not fit are left out.
    template <typename Row>
    [[nodiscard]] std::vector<Row> as() const {
        return structs<Row>(m_records);
    }
    template <typename Row>
    [[nodiscard]] std::vector<Row> othersAs() const {
        return structs<Row>(m_others);
    }

private:
    template <typename Row>
    static std::vector<Row> structs(const std::vector<RowRecord>& records) {
        std::vector<Row> rows;
        rows.reserve(records.size());
        for (const RowRecord& record : records) {
            if (record.type != RowSchema<Row>::kName) continue;
            if (auto row = rowFrom<Row>(record.values)) rows.push_back(std::move(*row));
        }
        return rows;
    }

    RunHeader m_header;
    std::vector<RowRecord> m_records, m_others;
    std::unordered_map<std::string, std::size_t> m_places;  // key to index in m_records
    std::unordered_map<std::string, std::size_t> m_otherPlaces;
};

/// A run read from a store, complete unless it is too large to be held.
struct SavedRun {
    RunSummary summary;
    RunRows rows;
    std::vector<std::pair<std::string, std::int64_t>> large;  ///< then: its row types and how many rows of each; `rows` is empty
};
using SavedRunPtr = std::shared_ptr<const SavedRun>;

}  // namespace kernelscope::ui
