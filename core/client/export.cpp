#include "core/client/export.h"

#include "core/records/csv.h"
#include "core/records/json_read.h"
#include "core/records/rows.h"

namespace kernelscope {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct FormatName {
    ExportFormat format;
    std::string_view name, extension;
};
constexpr FormatName kFormats[] = {
    {ExportFormat::csv, "csv", ".csv"},       {ExportFormat::json, "json", ".json"},           {ExportFormat::markdown, "markdown", ".md"},
    {ExportFormat::html, "html", ".html"},    {ExportFormat::trace, "trace", ".trace.json"},
};

/// Rows that stand beside the run's own in a full JSON document, under their type's name.
constexpr std::string_view kSampleType = RowSchema<SampleRow>::kName;

bool hasFiguresInsteadOfRows(const RunHeader& header) { return header.kind == RowSchema<TokenRow>::kName; }

/// With keys, samples find their rows again after an import.
std::string rowList(const RowType& type, std::span<const RowRecord> rows, bool withKeys = false) {
    std::string text = "[";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += (i ? ",\n    " : "\n    ") + jsonRow(type, rows[i].values);
        if (withKeys) {
            text.pop_back();
            text += ", \"_key\": " + dumpJson(rows[i].key) + "}";
        }
    }
    return text + (rows.empty() ? "]" : "\n  ]");
}

/// Everything before the rows, without the closing brace.
std::string documentHead(const RunHeader& header) {
    const json document = toJson(header);
    std::string text = "{\n  \"schema\": " + std::to_string(kSchemaVersion) + ",\n  \"kind\": " + dumpJson(header.kind) + ",\n  \"run\": {";
    const json& run = document.at("run");
    bool first = true;
    for (const char* key : {"id", "when", "command", "environment", "model", "weights", "device", "dtype", "settings", "seed", "status", "reason", "headline"}) {
        text += std::string(first ? "\n    " : ",\n    ") + "\"" + key + "\": " + dumpJson(run.at(key));
        first = false;
    }
    text += "\n  }";
    for (const auto& [key, value] : document.items())
        if (key != "schema" && key != "kind" && key != "run") text += ",\n  " + dumpJson(key) + ": " + dumpJson(value);
    return text;
}

}  // namespace

std::optional<ExportFormat> exportFormatFromString(std::string_view text) {
    for (const FormatName& entry : kFormats)
        if (entry.name == text) return entry.format;
    return std::nullopt;
}

std::string_view fileExtension(ExportFormat format) {
    for (const FormatName& entry : kFormats)
        if (entry.format == format) return entry.extension;
    return "";
}

std::optional<ExportFormat> exportFormatOf(const fs::path& file) {
    const std::string name = file.filename().string();
    std::optional<ExportFormat> found;
    for (const FormatName& entry : kFormats)  // .trace.json comes after .json and wins
        if (name.size() > entry.extension.size() && name.ends_with(entry.extension)) found = entry.format;
    return found;
}

std::string jsonRow(const RowType& type, std::span<const Value> values) {
    const json object = toJson(type, values);
    std::string text = "{";
    for (std::size_t i = 0; i < type.columns.size(); ++i) {
        const std::string name(type.columns[i].name);
        text += std::string(i ? ", " : "") + "\"" + name + "\": " + dumpJson(object.at(name));
    }
    return text + "}";
}

std::string jsonDocument(const RunHeader& header) { return documentHead(header) + "\n}\n"; }

std::string jsonDocument(const RunHeader& header, const RowType& type, std::span<const RowRecord> rows) {
    if (hasFiguresInsteadOfRows(header)) return jsonDocument(header);
    return documentHead(header) + ",\n  \"rows\": " + rowList(type, rows) + "\n}\n";
}

Result<std::string> exportRun(const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options) {
    const auto run = store.run(runId);
    if (!run) return run.error();
    const RunHeader& header = run->header;
    const RowType* type = findRowType(header.kind);
    if (!type) return makeError(ErrorCode::badInput, "run " + header.id + " is of kind '" + header.kind + "', which has no rows");

    if (format == ExportFormat::trace) {
        const auto events = store.rows(header.id, std::string(RowSchema<ProfileEventRow>::kName));
        if (!events) return events.error();
        return traceDocument(header, *events);
    }
    if (format == ExportFormat::csv) {
        const RowType* shown = options.samples ? findRowType(kSampleType) : type;
        const auto rows = store.rows(header.id, std::string(shown->name));
        if (!rows) return rows.error();
        std::string text = csvHeader(*shown);
        for (const RowRecord& row : *rows) text += csvLine(std::span<const Value>(row.values));
        return text;
    }
    const auto rows = store.rows(header.id, header.kind);
    if (!rows) return rows.error();
    switch (format) {
        case ExportFormat::markdown: return markdownDocument(*run, *type, *rows);
        case ExportFormat::html: return htmlDocument(*run, *type, *rows);
        default: break;
    }
    if (!options.samples) return jsonDocument(header, *type, *rows);

    std::string text = documentHead(header);
    if (!hasFiguresInsteadOfRows(header)) text += ",\n  \"rows\": " + rowList(*type, *rows, true);
    for (const RowType& other : rowTypes()) {
        if (other.name == header.kind && !hasFiguresInsteadOfRows(header)) continue;
        const auto more = store.rows(header.id, std::string(other.name));
        if (!more) return more.error();
        if (!more->empty()) text += ",\n  \"" + std::string(other.name == kSampleType ? "samples" : other.name) + "\": " + rowList(other, *more, true);
    }
    return text + "\n}\n";
}

fs::path exportPath(const fs::path& output, const RunHeader& header, ExportFormat format) {
    std::error_code ignored;
    if (fs::is_directory(output, ignored) || !output.has_filename())
        return output / (header.kind + "-" + header.id + std::string(fileExtension(format)));
    return output;
}

}  // namespace kernelscope
