#pragma once
// A run as a document: the formats of the command line's `runs export`, `--csv` and `--json`.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/client/store.h"
#include "core/records/result.h"

namespace kernelscope {

enum class ExportFormat { csv, json, markdown, html, trace };

std::optional<ExportFormat> exportFormatFromString(std::string_view text);
/// ".csv", ".json", ".md", ".html", ".trace.json"
std::string_view fileExtension(ExportFormat format);
/// By the extension of a file name; nullopt for one that says nothing.
std::optional<ExportFormat> exportFormatOf(const std::filesystem::path& file);

struct ExportOptions {
    bool samples = false;  ///< raw samples too: rows of their own in CSV, further lists in JSON
};

/// The document of one run. Errors: badInput (no such run; a trace of a run without a timeline).
Result<std::string> exportRun(const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options = {});

/// The JSON document of a run that has figures of its own instead of rows (generate, inspect), or none at all.
std::string jsonDocument(const RunHeader& header);
/// The JSON document with rows of its kind.
std::string jsonDocument(const RunHeader& header, const RowType& type, std::span<const RowRecord> rows);
/// One row as a JSON object, columns in their order.
std::string jsonRow(const RowType& type, std::span<const Value> values);

/// Where an export goes: `output` itself, or, for a folder (an existing one, or a name that ends with a slash), a file
/// named after the run within it.
std::filesystem::path exportPath(const std::filesystem::path& output, const RunHeader& header, ExportFormat format);

struct Comparison;
/// A comparison as csv, json, markdown or html; `command` is the command line that makes it. A trace is CSV.
std::string comparisonDocument(const Comparison& comparison, ExportFormat format, const std::string& command);

// The formats that are a page of code of their own.
std::string markdownDocument(const RunSummary& run, const RowType& type, std::span<const RowRecord> rows);
std::string htmlDocument(const RunSummary& run, const RowType& type, std::span<const RowRecord> rows);
/// Chrome trace (Perfetto opens it) of the one pass whose timeline a profile keeps.
Result<std::string> traceDocument(const RunHeader& header, std::span<const RowRecord> events);

}  // namespace kernelscope
