#include "core/ops/kernel_table.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/device/system.h"
#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope {
namespace {

constexpr std::array<std::string_view, 4> kOperators{"rms_norm", "add_rms_norm", "silu_mul", "rope"};
constexpr std::array<std::string_view, 4> kTriggers{"top", "wait", "loads", "end"};
constexpr std::array<std::string_view, 5> kPrefetches{"weight", "wave", "all", "table", "half"};

template <std::size_t kCount>
int indexOf(const std::array<std::string_view, kCount>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
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
