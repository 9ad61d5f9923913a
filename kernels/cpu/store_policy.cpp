#include "kernels/cpu/store_policy.h"

#include <array>
#include <chrono>

namespace kernelscope::kernels::cpu {
namespace {

#if defined(__x86_64__) || defined(_M_X64)
constexpr bool kCanStorePast = true;
#else
constexpr bool kCanStorePast = false;  // Highway's Stream is an ordinary store there
#endif

constexpr int64_t kLeastBytes = 384 * 1024;
constexpr int kProbes = 3;
/// Between a last cache (10 to 40 ns) and memory or the cache of another chip (70 ns or more), with 20 ns of the clock's own.
constexpr double kFarNs = 75;

volatile uint8_t g_nothing = 0;

}  // namespace

bool outsideCaches(const void* first, int64_t rows, int64_t rowBytes, int64_t strideBytes) {
    if (!kCanStorePast || rows * rowBytes < kLeastBytes) return false;
    using Clock = std::chrono::steady_clock;
    std::array<const volatile uint8_t*, kProbes> probed{};
    uint8_t last = 0;
    for (int i = 0; i < kProbes; ++i) {
        const volatile uint8_t* row = static_cast<const volatile uint8_t*>(first) + (2 * i + 1) * rows / (2 * kProbes) * strideBytes;
        last = static_cast<uint8_t>(last + *row);  // finding the page may take as long as a line: here, all at once
        probed[static_cast<size_t>(i)] = row + rowBytes / 2;
    }
    const uint8_t nothing = g_nothing;  // the compiler does not know that it is zero, so each load waits for the one before
    int far = 0;
    for (const volatile uint8_t* line : probed) {
        const Clock::time_point begin = Clock::now();
        last = line[last & nothing];
        far += std::chrono::duration<double, std::nano>(Clock::now() - begin).count() > kFarNs ? 1 : 0;
    }
    return 2 * far > kProbes;
}

}  // namespace kernelscope::kernels::cpu
