#include "core/device/peak_memory.h"

#include "core/device/system.h"

namespace kernelscope {

void resetPeakMemory(const Device&) { system::resetPeakResident(); }
std::optional<std::int64_t> peakMemoryBytes(const Device&) { return system::peakResidentBytes(); }

}  // namespace kernelscope
