#pragma once
// Documents are written from pages of rows. Only export*.cpp use this.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/client/file.h"
#include "core/client/store.h"
#include "core/records/row.h"

namespace kernelscope {

using PageTaker = std::function<Result<void>(std::span<const RowRecord> page)>;

/// Rows of one type, wherever they are: read as often as a document needs them, never all at once.
struct RowPages {
    std::int64_t count = 0;
    std::vector<bool> filled;  ///< which columns hold anything
    std::function<Result<void>(const PageTaker&)> each;
};

Result<RowPages> pagesOf(const Store& store, const std::string& runId, const RowType& type);
/// Of rows that outlive what is returned.
RowPages pagesOf(const RowType& type, std::span<const RowRecord> rows);

/// At most the first `most` rows; `most` below 0: all.
Result<void> firstRows(const RowPages& rows, std::int64_t most, const std::function<Result<void>(const RowRecord&)>& take);

/// Collects what is added and hands it on in pieces of some size.
class PieceWriter {
public:
    explicit PieceWriter(const TextSink& sink) : m_sink(sink) {}
    Result<void> add(std::string_view text);
    Result<void> flush();

private:
    static constexpr std::size_t kPiece = std::size_t{1} << 18;  // a write of that size costs no more a byte than a larger one
    const TextSink& m_sink;
    std::string m_text;
};

/// "End to end: Qwen2.5-0.5B"
std::string documentTitle(const RunHeader& header);

// The formats that are a page of code of their own.
Result<void> markdownDocument(const RunSummary& run, const RowType& type, const RowPages& rows, std::int64_t mostRows, const TextSink& sink);
/// `shares`: what a context run keeps beside its rows.
Result<void> htmlDocument(const RunSummary& run, const RowType& type, const RowPages& rows, std::span<const RowRecord> shares, const TextSink& sink);
/// Chrome trace (Perfetto opens it) of the one pass whose timeline a profile keeps.
Result<void> traceDocument(const RunHeader& header, const RowPages& events, const TextSink& sink);

}  // namespace kernelscope
