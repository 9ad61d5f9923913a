#include "core/measure/evict.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/device/cpu_cache.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace kernelscope {

#if defined(__x86_64__)

void evict(const void* memory, std::size_t bytes) {
    constexpr std::uintptr_t kLine = 64;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory) & ~(kLine - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    for (std::uintptr_t line = begin; line < end; line += kLine) _mm_clflush(reinterpret_cast<const void*>(line));
    _mm_mfence();
}

#else

void evict(const void*, std::size_t) {
    thread_local const std::vector<std::uint64_t> larger(static_cast<std::size_t>(2 * lastLevelCacheBytes()) / 8, 1);
    [[maybe_unused]] volatile std::uint64_t sum = std::accumulate(larger.begin(), larger.end(), std::uint64_t{0});
}

#endif

}  // namespace kernelscope
