#include "core/ops/kernel_table_file.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <system_error>

#include <fmt/format.h>

#include "core/model/files.h"
#include "core/records/json_read.h"

namespace kernelscope {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kSchema = 1;
constexpr const char* kAgain = "Delete the file, or measure again: kernelscope-cli tune.";

bool sameShape(const KernelTableCell& a, const KernelTableCell& b) {
    return a.op == b.op && a.launch == b.launch && a.hidden == b.hidden && a.rows == b.rows;
}

json toJson(const KernelTableCell& cell) {
    return {{"op", cell.op}, {"launch", cell.launch}, {"hidden", cell.hidden}, {"rows", cell.rows}, {"config", cell.config},
            {"trigger", cell.trigger}, {"prefetch", cell.prefetch}, {"blocks_per_sm", cell.blocksPerSm}};
}

Result<KernelTableCell> cellFrom(const json& entry) {
    KernelTableCell cell;
    JsonReader reader(entry, "a cell");
    for (const char* key : {"op", "launch", "hidden", "rows", "config", "trigger", "prefetch", "blocks_per_sm"}) reader.require(key);
    reader.read("op", cell.op);
    reader.read("launch", cell.launch);
    reader.read("hidden", cell.hidden);
    reader.read("rows", cell.rows);
    reader.read("config", cell.config);
    reader.read("trigger", cell.trigger);
    reader.read("prefetch", cell.prefetch);
    reader.read("blocks_per_sm", cell.blocksPerSm);
    if (!reader.ok()) return reader.error();
    return cell;
}

}  // namespace

Result<std::vector<KernelTableCell>> parseKernelTable(std::string_view text, const std::string& name) {
    const auto bad = [&](const std::string& why) { return makeError(ErrorCode::badInput, fmt::format("{} is no kernel table: {}", name, why), kAgain); };
    const auto document = parseJson(text);
    if (!document || !document->is_object()) return bad("it is no JSON object");
    const auto schema = document->find("schema"), list = document->find("cells");
    const auto number = schema == document->end() ? std::nullopt : integerOf(*schema);
    if (!number) return bad("it has no schema");
    if (*number != kSchema) return makeError(ErrorCode::badInput, fmt::format("{} has schema {}, this version reads {}", name, *number, kSchema), kAgain);
    if (list == document->end() || !list->is_array()) return bad("it lists no cells");
    std::vector<KernelTableCell> cells;
    for (const json& entry : *list) {
        Result<KernelTableCell> cell = cellFrom(entry);
        if (!cell) return bad(cell.error().message);
        cells.push_back(std::move(*cell));
    }
    return cells;
}

std::string kernelTableText(const std::string& gpu, const std::vector<KernelTableCell>& cells) {
    json document{{"schema", kSchema}, {"gpu", gpu}, {"cells", json::array()}};
    for (const KernelTableCell& cell : cells) document["cells"].push_back(toJson(cell));
    return dumpJson(document, 1) + '\n';
}

Result<std::vector<KernelTableCell>> readKernelTable(const fs::path& file) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::vector<KernelTableCell>{};
    const Result<std::string> text = readTextFile(file);
    if (!text) return text.error();
    return parseKernelTable(*text, toUtf8(file));
}

Result<void> writeKernelTable(const fs::path& file, const std::string& gpu, const std::vector<KernelTableCell>& cells) {
    std::vector<KernelTableCell> all = cells;
    if (const auto before = readKernelTable(file)) {  // one that cannot be read is replaced
        for (const KernelTableCell& old : *before) {
            if (std::none_of(cells.begin(), cells.end(), [&](const KernelTableCell& cell) { return sameShape(cell, old); })) all.push_back(old);
        }
    }
    std::error_code problem;
    fs::create_directories(file.parent_path(), problem);
    fs::path beside = file;
    beside += fmt::format(".{:08x}", std::random_device{}());  // of this engine alone: two may tune two GPUs of one model
    std::ofstream stream(beside, std::ios::binary);
    stream << kernelTableText(gpu, all);
    stream.close();
    if (stream) fs::rename(beside, file, problem);
    if (stream && !problem) return {};
    std::error_code ignored;
    fs::remove(beside, ignored);
    return makeError(ErrorCode::environment, fmt::format("the kernel table {} cannot be written{}", toUtf8(file), problem ? ": " + problem.message() : std::string()),
                     "Check the folder's permissions and space.");
}

}  // namespace kernelscope
