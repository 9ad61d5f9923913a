#include "core/client/import.h"

#include <fstream>
#include <set>
#include <system_error>

#include "core/client/file.h"
#include "core/client/import_trace.h"
#include "core/records/json_read.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {

using nlohmann::json;

namespace {

Result<void> readRows(const json& list, const RowType& type, std::vector<RowRecord>& rows) {
    if (!list.is_array()) return makeError(ErrorCode::badInput, "the document's rows are no list");
    // Full exports keep the keys. Else rows of a type with key columns get theirs back, unless two would be the same.
    std::set<std::string> used;
    const bool numbered = keyColumns(type.name).empty();
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto values = valuesFromJson(type, list[i]);
        if (!values) return makeError(ErrorCode::badInput, "row " + std::to_string(i + 1) + ": " + values.error().message);
        std::string key = numbered ? std::to_string(i) : rowKey(type, *values);
        if (const auto kept = list[i].find("_key"); kept != list[i].end() && kept->is_string()) key = kept->get<std::string>();
        if (!used.insert(key).second) key += "#" + std::to_string(i);
        rows.push_back({std::string(type.name), std::move(key), std::move(*values)});
    }
    return {};
}

}  // namespace

Result<ImportedRun> readRun(std::string_view text) {
    const auto document = parseJson(text);
    if (!document) return makeError(ErrorCode::badInput, "this is not JSON: " + whyNoJson(text), "import what `runs export --format json` wrote");
    auto header = runHeaderFromJson(*document);
    if (!header) return header.error();
    const RowType* own = findRowType(header->kind);
    if (!own) return makeError(ErrorCode::badInput, "a document of kind '" + header->kind + "' is no run");

    std::vector<RowRecord> rows;
    if (const auto list = document->find("rows"); list != document->end())
        if (const auto read = readRows(*list, *own, rows); !read) return read.error();
    for (const RowType& type : rowTypes()) {
        const auto list = document->find(type.name == RowSchema<SampleRow>::kName ? std::string_view("samples") : type.name);
        if (list == document->end()) continue;
        if (const auto read = readRows(*list, type, rows); !read) return read.error();
    }
    // What was running when it was exported is not running here.
    if (header->status == RunStatus::running) {
        header->status = RunStatus::interrupted;
        header->reason = "exported while it ran";
    }
    return ImportedRun{std::move(*header), std::move(rows)};
}

Result<RunHeader> importRun(Store& store, std::string_view text) {
    auto run = readRun(text);
    if (!run) return run.error();
    if (!store.isFreeId(run->header.id)) run->header.id.clear();
    auto made = store.createRun(run->header);
    if (!made) return made.error();
    if (const auto put = store.putRows(made->id, run->rows); !put) return put.error();
    return made;
}

Result<RunHeader> importFile(Store& store, const std::filesystem::path& file) {
    constexpr std::size_t kBeginning = std::size_t{1} << 20;  // a trace names its devices before its events
    const auto named = [&](Result<RunHeader> made) -> Result<RunHeader> {
        if (made) return made;
        Error error = made.error();
        if (error.message.find(file.string()) == std::string::npos) error.message = file.string() + ": " + error.message;
        if (error.advice.empty()) error.advice = "import what `runs export --format json` wrote, or a Chrome trace of the torch profiler";
        return error;
    };
    // A pipe would have to be read twice, and a device (/dev/zero) never ends.
    std::error_code ignored;
    if (const auto status = std::filesystem::status(file, ignored); std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status))
        return makeError(ErrorCode::badInput, "cannot read " + file.string() + ": it is no regular file", "write what it holds to a file first, and import that");
    std::ifstream stream(file, std::ios::binary);
    std::string beginning(kBeginning, '\0');
    stream.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    beginning.resize(static_cast<std::size_t>(stream.gcount()));
    if (looksLikeTrace(beginning)) {
        stream.clear();
        stream.seekg(0);
        return named(importTrace(store, stream, file.filename().string()));
    }
    const auto text = readFile(file);
    if (!text) return text.error();
    return named(importRun(store, *text));
}

}  // namespace kernelscope
