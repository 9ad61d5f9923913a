#pragma once
// Random bits from a counter: any element can be computed on its own, in any order, on any machine.

#include <cstdint>

namespace kernelscope {

inline constexpr std::uint64_t kGoldenStep = 0x9E3779B97F4A7C15U;  ///< 2^64 / golden ratio: its multiples spread evenly

/// The finaliser of splitmix64: every input bit changes every output bit with a probability near one half.
constexpr std::uint64_t mixBits(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

/// A key for each stream of numbers of each seed.
constexpr std::uint64_t counterKey(std::uint64_t seed, std::uint64_t stream) {
    return mixBits(mixBits(seed + kGoldenStep) + (stream + 1) * kGoldenStep);
}

constexpr std::uint64_t counterHash(std::uint64_t key, std::uint64_t index) { return mixBits(key + index * kGoldenStep); }

}  // namespace kernelscope
