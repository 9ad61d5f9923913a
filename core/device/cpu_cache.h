#pragma once
#include <cstdint>

namespace kernelscope {

/// Of the largest cache that a core of this machine uses; a guess of 32 MiB where the system does not say.
std::int64_t lastLevelCacheBytes();

}  // namespace kernelscope
