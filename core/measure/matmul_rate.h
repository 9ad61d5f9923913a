#pragma once
// What the device's arithmetic reaches at best: the roof over kernels that memory does not hold back.

#include "core/device/device.h"

namespace kernelscope {

/// Operations a second (a multiplication and an addition are two) of a large matrix product in that type, by the device's own
/// library. 0 where it could not be measured.
double matmulFlopsPerSecond(const Device& device, at::ScalarType dtype);

}  // namespace kernelscope
