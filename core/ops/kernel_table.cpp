#include "core/ops/kernel_table.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/device/system.h"
#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope {
namespace {

constexpr int kSchema = 1;
constexpr std::array<std::string_view, 4> kOperators{"rms_norm", "add_rms_norm", "silu_mul", "rope"};
constexpr std::array<std::string_view, 4> kTriggers{"top", "wait", "loads", "end"};
constexpr std::array<std::string_view, 4> kPrefetches{"weight", "wave", "all", "table"};

template <std::size_t kCount>
int indexOf(const std::array<std::string_view, kCount>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

bool sameShape(const KernelTableCell& a, const KernelTableCell& b) {
    return a.op == b.op && a.launch == b.launch && a.hidden == b.hidden && a.rows == b.rows;
}

nlohmann::json toJson(const KernelTableCell& cell) {
    return {{"op", cell.op}, {"launch", cell.launch}, {"hidden", cell.hidden}, {"rows", cell.rows}, {"config", cell.config},
            {"trigger", cell.trigger}, {"prefetch", cell.prefetch}, {"blocks_per_sm", cell.blocksPerSm}};
}

KernelTableCell cellFrom(const nlohmann::json& json) {
    return {json.at("op"), json.at("launch"), json.at("hidden"), json.at("rows"), json.at("config"), json.at("trigger"), json.at("prefetch"),
            json.at("blocks_per_sm")};
}

/// The C interface's entry; config -1 where the names are not of this version.
ks_table_entry entryOf(const KernelTableCell& cell) {
    ks_table_entry entry{};
    entry.op = indexOf(kOperators, cell.op);
    entry.plain = cell.launch == "plain" ? 1 : 0;
    entry.rows = cell.rows;
    entry.hidden = cell.hidden;
    entry.trigger = indexOf(kTriggers, cell.trigger);
    entry.prefetch = indexOf(kPrefetches, cell.prefetch);
    entry.blocks_per_sm = static_cast<int32_t>(cell.blocksPerSm);
    entry.config = -1;
    for (int config = 0; entry.op >= 0 && config < ks_config_count(entry.op); ++config) {
        if (cell.config == ks_config_name(entry.op, config)) entry.config = config;
    }
    return entry;
}

}  // namespace

std::filesystem::path kernelTablePath(const std::string& gpu) {
    std::string name;
    for (const char c : gpu) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
    return system::dataFolder() / "kernel_tables" / (name + ".json");
}

Result<std::vector<KernelTableCell>> readKernelTable(const std::filesystem::path& file) {
    std::vector<KernelTableCell> cells;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return cells;
    const std::string again = "Delete the file, or measure again: kernelscope-cli tune.";
    try {
        std::ifstream stream(file);
        const nlohmann::json json = nlohmann::json::parse(stream);
        if (const int schema = json.at("schema"); schema != kSchema) {
            return makeError(ErrorCode::badInput, fmt::format("{} has schema {}, this version reads {}", file.string(), schema, kSchema), again);
        }
        for (const nlohmann::json& cell : json.at("cells")) cells.push_back(cellFrom(cell));
    } catch (const nlohmann::json::exception& error) {
        return makeError(ErrorCode::badInput, fmt::format("{} is no kernel table: {}", file.string(), error.what()), again);
    }
    return cells;
}

Result<void> writeKernelTable(const std::filesystem::path& file, const std::string& gpu, const std::vector<KernelTableCell>& cells) {
    std::vector<KernelTableCell> all = cells;
    if (const auto before = readKernelTable(file)) {  // one that cannot be read is replaced
        for (const KernelTableCell& old : *before) {
            if (std::none_of(cells.begin(), cells.end(), [&](const KernelTableCell& cell) { return sameShape(cell, old); })) all.push_back(old);
        }
    }
    nlohmann::json json{{"schema", kSchema}, {"gpu", gpu}, {"cells", nlohmann::json::array()}};
    for (const KernelTableCell& cell : all) json["cells"].push_back(toJson(cell));
    std::error_code problem;
    std::filesystem::create_directories(file.parent_path(), problem);
    const std::filesystem::path beside = file.string() + ".new";
    std::ofstream stream(beside);
    stream << json.dump(1) << '\n';
    stream.close();
    if (stream) std::filesystem::rename(beside, file, problem);
    if (stream && !problem) return {};
    return makeError(ErrorCode::environment, fmt::format("the kernel table {} cannot be written{}", file.string(), problem ? ": " + problem.message() : std::string()),
                     "Check the folder's permissions and space.");
}

std::string useKernelTable(const Device& device) {
    if (!device.isCuda()) return {};
    const auto cells = readKernelTable(kernelTablePath(device.info.name));
    if (!cells) return "built-in; " + cells.error().message;
    std::vector<ks_table_entry> entries;
    for (const KernelTableCell& cell : *cells) {
        if (const ks_table_entry entry = entryOf(cell); entry.config >= 0 && entry.trigger >= 0 && entry.prefetch >= 0) entries.push_back(entry);
    }
    if (const int status = ks_use_table(entries.data(), static_cast<std::int64_t>(entries.size())); status != KS_OK) {
        return fmt::format("built-in; the table of this GPU is refused: {}", ks_status_string(status));
    }
    return entries.empty() ? "built-in" : fmt::format("{} cells tuned here", entries.size());
}

}  // namespace kernelscope
