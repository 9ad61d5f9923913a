#include "core/own/occupancy.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace kernelscope {
namespace {

constexpr std::int64_t kWarp = 32;
// Registers are given out to warps in this many at a time, on every GPU since Kepler.
constexpr std::int64_t kRegisterUnit = 256;

std::int64_t roundedUp(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Occupancy occupancyOf(const driver::Resources& needs, const driver::DeviceLimits& limits, int threads, std::int64_t dynamicShared, int blocks) {
    const std::int64_t warps = roundedUp(threads, kWarp) / kWarp;
    constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
    const std::int64_t registersOfWarp = roundedUp(needs.registers * kWarp, kRegisterUnit);
    const std::int64_t shared = needs.sharedBytes + dynamicShared;

    struct Limit {
        std::int64_t blocks;
        std::string words;
    };
    const std::int64_t byThreads = limits.threadsPerMultiprocessor / (warps * kWarp);
    const std::int64_t byRegisters = registersOfWarp > 0 ? limits.registersPerMultiprocessor / registersOfWarp / warps : kNoLimit;
    const std::int64_t byShared = shared > 0 ? limits.sharedPerMultiprocessor / (shared + limits.reservedSharedPerBlock) : kNoLimit;
    const std::array<Limit, 4> all{
        Limit{byThreads, fmt::format("the size of a block: {} of {} threads fill the multiprocessor's {}", byThreads, threads, limits.threadsPerMultiprocessor)},
        Limit{limits.blocksPerMultiprocessor, fmt::format("the number of blocks: a multiprocessor holds {}, and {} threads a block are few", limits.blocksPerMultiprocessor, threads)},
        Limit{byRegisters, fmt::format("registers: {} a thread leave room for {} blocks of {} threads", needs.registers, byRegisters, threads)},
        Limit{byShared, fmt::format("shared memory: {} bytes a block leave room for {} blocks", shared, byShared)},
    };
    Occupancy made;
    made.percent = 100.0 * static_cast<double>(blocks) * static_cast<double>(warps * kWarp) / std::max(1, limits.threadsPerMultiprocessor);
    const auto least = std::min_element(all.begin(), all.end(), [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
    if (static_cast<std::int64_t>(blocks) * warps * kWarp >= limits.threadsPerMultiprocessor) made.limitedBy = "nothing: every thread a multiprocessor can hold is there";
    else made.limitedBy = least->words;
    return made;
}

}  // namespace kernelscope
