#include "core/client/export.h"

#include "core/client/export_pieces.h"
#include "core/records/context_rows.h"
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

std::string jsonCell(const Value& value) {
    return std::visit([](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) return "null";
        else if constexpr (std::is_same_v<Held, double>) return dumpJson(jsonNumber(held));
        else return dumpJson(held);
    }, value);
}

bool hasFiguresInsteadOfRows(const RunHeader& header) { return header.kind == RowSchema<TokenRow>::kName; }

/// With keys, samples find their rows again after an import.
Result<void> addRowList(PieceWriter& out, const RowType& type, const RowPages& rows, bool withKeys = false) {
    if (const auto begun = out.add("["); !begun) return begun;
    bool first = true;
    const auto written = rows.each([&](std::span<const RowRecord> page) -> Result<void> {
        for (const RowRecord& row : page) {
            std::string text = (first ? "\n    " : ",\n    ") + jsonRow(type, row.values);
            first = false;
            if (withKeys) {
                text.pop_back();
                text += ", \"_key\": " + dumpJson(row.key) + "}";
            }
            if (const auto added = out.add(text); !added) return added;
        }
        return {};
    });
    if (!written) return written;
    return out.add(first ? "]" : "\n  ]");
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
    std::string text = "{";
    for (std::size_t i = 0; i < type.columns.size(); ++i) {
        const std::string name(type.columns[i].name);
        text += std::string(i ? ", " : "") + "\"" + name + "\": " + jsonCell(values[i]);
    }
    return text + "}";
}

std::string jsonDocument(const RunHeader& header) { return documentHead(header) + "\n}\n"; }

std::string jsonDocument(const RunHeader& header, const RowType& type, std::span<const RowRecord> rows) {
    if (hasFiguresInsteadOfRows(header)) return jsonDocument(header);
    std::string text = documentHead(header) + ",\n  \"rows\": ";
    const TextSink gather = [&](std::string_view piece) -> Result<void> { text += piece; return {}; };
    PieceWriter out(gather);
    [[maybe_unused]] const auto all = addRowList(out, type, pagesOf(type, rows)).ok() && out.flush().ok();
    return text + "\n}\n";
}

namespace {

Result<void> streamCsv(const RowType& type, const RowPages& rows, const TextSink& sink) {
    PieceWriter out(sink);
    if (const auto begun = out.add(csvHeader(type)); !begun) return begun;
    const auto written = rows.each([&](std::span<const RowRecord> page) -> Result<void> {
        for (const RowRecord& row : page)
            if (const auto added = out.add(csvLine(std::span<const Value>(row.values))); !added) return added;
        return {};
    });
    return written ? out.flush() : written;
}

/// The run's own rows, then what else belongs to it: shares, modules, the timeline, the cross-check. Raw samples where asked for.
Result<void> streamJson(const Store& store, const RunHeader& header, const RowType& type, bool samples, const TextSink& sink) {
    PieceWriter out(sink);
    if (const auto begun = out.add(documentHead(header)); !begun) return begun;
    const auto list = [&](const RowType& each, std::string_view name, bool always) -> Result<void> {
        const auto rows = pagesOf(store, header.id, each);
        if (!rows) return rows.error();
        if (rows->count == 0 && !always) return {};
        if (const auto named = out.add(",\n  \"" + std::string(name) + "\": "); !named) return named;
        return addRowList(out, each, *rows, samples);
    };
    if (!hasFiguresInsteadOfRows(header))
        if (const auto own = list(type, "rows", true); !own) return own;
    for (const RowType& other : rowTypes()) {
        if (other.name == header.kind && (!samples || !hasFiguresInsteadOfRows(header))) continue;
        const bool isSample = other.name == kSampleType;
        if (isSample && !samples) continue;
        if (const auto more = list(other, isSample ? "samples" : other.name, false); !more) return more;
    }
    if (const auto ended = out.add("\n}\n"); !ended) return ended;
    return out.flush();
}

}  // namespace

/// Eight a point: more points than a report draws.
constexpr std::int64_t kMostShares = 10'000;

Result<void> streamRun(const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options, const TextSink& sink) {
    const auto run = store.run(runId);
    if (!run) return run.error();
    const RunHeader& header = run->header;
    const RowType* type = findRowType(header.kind);
    if (!type) return makeError(ErrorCode::badInput, "run " + header.id + " is of kind '" + header.kind + "', which has no rows");
    if (format == ExportFormat::json) return streamJson(store, header, *type, options.samples, sink);

    const RowType* shown = format == ExportFormat::trace ? findRowType(RowSchema<ProfileEventRow>::kName) : format == ExportFormat::csv && options.samples ? findRowType(kSampleType) : type;
    const auto rows = pagesOf(store, header.id, *shown);
    if (!rows) return rows.error();
    switch (format) {
        case ExportFormat::trace: return traceDocument(header, *rows, sink);
        case ExportFormat::markdown: return markdownDocument(*run, *type, *rows, options.mostRows, sink);
        case ExportFormat::html: {
            const auto shares = store.rows(header.id, std::string(RowSchema<ContextShareRow>::kName), 0, kMostShares);
            if (!shares) return shares.error();
            return htmlDocument(*run, *type, *rows, *shares, sink);
        }
        default: return streamCsv(*shown, *rows, sink);
    }
}

Result<void> exportRunTo(const fs::path& file, const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options) {
    return writeFileAtomically(file, [&](const TextSink& sink) { return streamRun(store, runId, format, options, sink); });
}

Result<std::string> exportRun(const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options) {
    std::string text;
    const auto streamed = streamRun(store, runId, format, options, [&](std::string_view piece) -> Result<void> { text += piece; return {}; });
    if (!streamed) return streamed.error();
    return text;
}

fs::path exportPath(const fs::path& output, const RunHeader& header, ExportFormat format) {
    std::error_code ignored;
    if (fs::is_directory(output, ignored) || !output.has_filename())
        return output / (header.kind + "-" + header.id + std::string(fileExtension(format)));
    return output;
}

}  // namespace kernelscope
