#pragma once
// A run as a document: the formats of the command line's `runs export`, `--csv` and `--json`.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/client/file.h"
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
    bool samples = false;  ///< raw samples too: rows of their own in CSV, one more list in JSON
    std::int64_t mostRows = -1;  ///< of Markdown's table, with a sentence that says how many there are; below 0: all
};

/// The document of one run, piece by piece: a run of any size takes the memory of a page of its rows. HTML shows the
/// first 10,000 rows, and charts of runs of up to 50,000. Errors: badInput (no such run; a trace of a run without a
/// timeline), and what `sink` says.
Result<void> streamRun(const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options, const TextSink& sink);
/// The same into a file, in one step. Errors: environment too.
Result<void> exportRunTo(const std::filesystem::path& file, const Store& store, const std::string& runId, ExportFormat format, const ExportOptions& options = {});
/// The same as one text.
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


}  // namespace kernelscope
