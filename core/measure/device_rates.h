#pragma once
// What a device can do at best, measured: the two rates that a pass is held against.

#include "core/device/device.h"

namespace kernelscope {

struct DeviceRates {
    double copyBytesPerSecond = 0;    ///< read and written bytes of a large copy, added up; 0: not known
    double matmulFlopsPerSecond = 0;  ///< of a large square product in the model's type, by the library that the model uses; 0: not known
};

/// The second of them alone. Precondition: device activated. 0 where the library does not multiply that type, or the memory has no room.
double matmulFlopsPerSecond(const Device& device, at::ScalarType dtype);

/// Takes some 50 ms and a quarter of a GiB. Precondition: device activated. What the memory has no room for stays unknown.
DeviceRates measureRates(const Device& device, at::ScalarType dtype);

}  // namespace kernelscope
