#include "core/device/cpu_cache.h"

#include <algorithm>

#include <unistd.h>

namespace kernelscope {

std::int64_t lastLevelCacheBytes() {
    constexpr std::int64_t kGuess = 32LL << 20;
    std::int64_t largest = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE  // a GNU name
    for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) largest = std::max<std::int64_t>(largest, sysconf(level));
#endif
    return largest > 0 ? largest : kGuess;
}

}  // namespace kernelscope
