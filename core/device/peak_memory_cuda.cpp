#include "core/device/peak_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include "core/device/system.h"

namespace kernelscope {

void resetPeakMemory(const Device& device) {
    if (device.isCuda()) c10::cuda::CUDACachingAllocator::resetPeakStats(device.torch.index());
    else system::resetPeakResident();
}

std::optional<std::int64_t> peakMemoryBytes(const Device& device) {
    if (!device.isCuda()) return system::peakResidentBytes();
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.torch.index());
    return stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
}

}  // namespace kernelscope
