#pragma once
// How much memory was in use at most since it was last asked to forget: of torch's allocator on a GPU, of the process on a CPU.

#include <cstdint>
#include <optional>

#include "core/device/device.h"

namespace kernelscope {

/// On a CPU without the right to reset it, the peak stays that of the process's whole life.
void resetPeakMemory(const Device& device);
std::optional<std::int64_t> peakMemoryBytes(const Device& device);

}  // namespace kernelscope
