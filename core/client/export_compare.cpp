#include "core/client/compare.h"
#include "core/client/export.h"
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

    switch (format) {
        case ExportFormat::json: return jsonDocument(header, type, rows);
        case ExportFormat::markdown: return markdownDocument(summary, type, rows);
        case ExportFormat::html: return htmlDocument(summary, type, rows);
        default: break;
    }
    std::string csv = csvHeader(type);
    for (const RowRecord& row : rows) csv += csvLine(std::span<const Value>(row.values));
    return csv;
}

}  // namespace kernelscope
