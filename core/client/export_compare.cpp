#include "core/client/compare.h"
#include "core/client/export.h"
#include "core/client/export_pieces.h"
#include "core/records/csv.h"

namespace kernelscope {

std::string comparisonDocument(const Comparison& comparison, ExportFormat format, const std::string& command) {
    const RowType type = rowTypeOf<CompareRow>();
    std::vector<RowRecord> rows;
    for (const CompareRow& row : comparison.rows) rows.push_back({std::string(type.name), "", valuesOf(row)});

    RunSummary summary;
    RunHeader& header = summary.header;
    header.kind = type.name;
    header.when = timeStamp();
    header.command = command;
    header.status = RunStatus::done;
    header.headline = verdictCounts(comparison);
    if (!comparison.runs.empty()) {
        const RunHeader& baseline = comparison.runs.front().header;
        header.model = baseline.model;
        header.weights = baseline.weights;
        header.device = baseline.device;
        header.dtype = baseline.dtype;
        header.environment = baseline.environment;
        header.settings = baseline.settings;
        header.seed = baseline.seed;
    }
    for (const std::string& note : comparison.notes) summary.note += (summary.note.empty() ? "" : "; ") + note;
    header.result["notes"] = comparison.notes;
    for (const RunSummary& run : comparison.runs) header.result["runs"].push_back(toJson(run.header).at("run"));

    if (format == ExportFormat::json) return jsonDocument(header, type, rows);
    std::string text;
    const TextSink gather = [&](std::string_view piece) -> Result<void> { text += piece; return {}; };
    if (format == ExportFormat::markdown || format == ExportFormat::html) {
        const RowPages pages = pagesOf(type, rows);
        [[maybe_unused]] const auto whole = format == ExportFormat::markdown ? markdownDocument(summary, type, pages, -1, gather) : htmlDocument(summary, type, pages, {}, gather);
        return text;
    }
    text = csvHeader(type);
    for (const RowRecord& row : rows) text += csvLine(std::span<const Value>(row.values));
    return text;
}

}  // namespace kernelscope
