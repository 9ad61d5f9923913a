#pragma once
// A row of a dispatch table, and finding the row for a shape.

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels::cuda {

/// As it stands in dispatch_table.h.
struct NamedChoice {
    std::string_view config;
    int trigger = KS_TRIGGER_TOP;
    int prefetch = KS_PREFETCH_WEIGHT;
    int blocksPerSm = 0;
};

/// The same with the configuration found.
struct Choice {
    int config = -1;
    int trigger = KS_TRIGGER_TOP;
    int prefetch = KS_PREFETCH_WEIGHT;
    int blocksPerSm = 0;
};

inline constexpr std::array<int64_t, 6> kTableHidden{896, 1536, 2048, 3584, 5120, 8192};
inline constexpr std::array<int64_t, 7> kTableRows{1, 8, 64, 512, 2048, 8192, 32768};

/// The MLP widths of the Qwen2.5 models with these hidden sizes: what silu_mul is measured at.
inline constexpr std::array<int64_t, 6> kTableWidth{4864, 8960, 11008, 18944, 13824, 29568};

/// Hidden sizes down, row counts across.
using NamedGrid = std::array<std::array<NamedChoice, kTableRows.size()>, kTableHidden.size()>;
using Grid = std::array<std::array<Choice, kTableRows.size()>, kTableHidden.size()>;

/// Stops the compilation where a table names a configuration that does not exist.
template <class Configs>
consteval int indexOf(const Configs& configs, std::string_view name) {
    int index = 0;
    for (const auto& config : configs) {
        if (config.name == name) return index;
        ++index;
    }
    throw "dispatch_table.h names an unknown configuration";
}

template <class Configs>
consteval Choice resolve(const Configs& configs, const NamedChoice& named) {
    return {indexOf(configs, named.config), named.trigger, named.prefetch, named.blocksPerSm};
}

template <class Configs>
consteval Grid resolve(const Configs& configs, const NamedGrid& named) {
    Grid grid{};
    for (size_t h = 0; h < named.size(); ++h)
        for (size_t r = 0; r < named[h].size(); ++r) grid[h][r] = resolve(configs, named[h][r]);
    return grid;
}

/// The measured row count nearest to `rows` by ratio.
constexpr size_t rowsBucket(int64_t rows) {
    size_t bucket = 0;
    while (bucket + 1 < kTableRows.size() && rows * rows > kTableRows[bucket] * kTableRows[bucket + 1]) ++bucket;
    return bucket;
}

/// The cell whose key and row count are nearest by ratio: for kernels of which every configuration fits every shape.
constexpr const Choice& findNearest(const Grid& grid, const std::array<int64_t, kTableHidden.size()>& keys, int64_t rows, int64_t key) {
    const int64_t bounded = rows < (int64_t{1} << 30) ? rows : int64_t{1} << 30;
    size_t nearest = 0;
    for (size_t i = 1; i < keys.size(); ++i) {
        const auto off = [key](int64_t to) { return key < to ? static_cast<double>(to) / static_cast<double>(key + 1)
                                                             : static_cast<double>(key + 1) / static_cast<double>(to); };
        if (off(keys[i]) < off(keys[nearest])) nearest = i;
    }
    return grid[nearest][rowsBucket(bounded)];
}

/// Null where the hidden size is not in the table.
constexpr const Choice* find(const Grid& grid, int64_t rows, int64_t hidden) {
    const int64_t bounded = rows < (int64_t{1} << 30) ? rows : int64_t{1} << 30;
    for (size_t h = 0; h < kTableHidden.size(); ++h)
        if (kTableHidden[h] == hidden) return &grid[h][rowsBucket(bounded)];
    return nullptr;
}

}  // namespace kernelscope::kernels::cuda
