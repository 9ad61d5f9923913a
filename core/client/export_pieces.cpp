#include "core/client/export_pieces.h"

#include <map>

#include "core/records/csv.h"

namespace kernelscope {

Result<RowPages> pagesOf(const Store& store, const std::string& runId, const RowType& type) {
    const std::string name(type.name);
    const auto count = store.rowCount(runId, name);
    if (!count) return count.error();
    auto filled = store.filledColumns(runId, name);
    if (!filled) return filled.error();
    return RowPages{*count, std::move(*filled), [&store, runId, name](const PageTaker& take) -> Result<void> {
        constexpr std::int64_t kPage = 2'000;  // records are many times as large as the values in them
        for (std::int64_t offset = 0;; offset += kPage) {
            const auto page = store.rows(runId, name, offset, kPage);
            if (!page) return page.error();
            if (page->empty()) return {};
            if (const auto taken = take(*page); !taken) return taken;
        }
    }};
}

std::string documentTitle(const RunHeader& header) {
    static const std::map<std::string, std::string> kTitles{{"profile", "Profile"}, {"sweep", "Sweep"}, {"validate", "Validation"}, {"e2e", "End to end"}, {"context", "Length of the context"},
                                                            {"generate", "Generated text"}, {"tune", "Tuning"}, {"compare", "Comparison"}};
    const auto known = kTitles.find(header.kind);
    return (known != kTitles.end() ? known->second : header.kind) + (header.model.empty() ? "" : ": " + header.model);
}

RowPages pagesOf(const RowType& type, std::span<const RowRecord> rows) {
    std::vector<bool> filled(type.columns.size());
    for (const RowRecord& row : rows)
        for (std::size_t i = 0; i < filled.size(); ++i)
            if (!filled[i] && !cellText(row.values[i]).empty()) filled[i] = true;
    return {static_cast<std::int64_t>(rows.size()), std::move(filled), [rows](const PageTaker& take) { return rows.empty() ? Result<void>() : take(rows); }};
}

Result<void> firstRows(const RowPages& rows, std::int64_t most, const std::function<Result<void>(const RowRecord&)>& take) {
    // Ending the reading is no error of the reader's.
    Result<void> outcome;
    std::int64_t taken = 0;
    const auto read = rows.each([&](std::span<const RowRecord> page) -> Result<void> {
        for (const RowRecord& row : page) {
            if (most >= 0 && taken == most) return makeError(ErrorCode::cancelled, "enough");
            if (outcome = take(row); !outcome) return outcome;
            ++taken;
        }
        return {};
    });
    if (!outcome) return outcome;
    return !read && most >= 0 && taken == most ? Result<void>() : read;
}

Result<void> PieceWriter::add(std::string_view text) {
    m_text += text;
    return m_text.size() < kPiece ? Result<void>() : flush();
}

Result<void> PieceWriter::flush() {
    if (m_text.empty()) return {};
    const auto written = m_sink(m_text);
    m_text.clear();
    return written;
}

}  // namespace kernelscope
