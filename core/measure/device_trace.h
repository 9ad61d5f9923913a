#pragma once
// The driver's own record of what ran on the GPU, through CUPTI as libtorch brings it. A cross-check where CUPTI works; nothing
// depends on it, and where it does not work the reason is said.

#include <stop_token>
#include <string>
#include <vector>

#include "core/device/cupti.h"
#include "core/measure/graph_profile.h"

namespace kernelscope {

struct DeviceRecord {
    NodeKind kind = NodeKind::kernel;
    std::string name;  ///< demangled
    double durationUs = 0;
};

/// Passes under the trace, one list of records a pass, in order of execution. Precondition: CUDA device, activated. Errors: environment,
/// when the trace is not available (permission, another subscriber, an unsupported GPU; message and advice say which) or does not hold whole passes.
Result<std::vector<std::vector<DeviceRecord>>> traceDevice(const Pass& pass, int passes, const Device& device, std::stop_token stop,
                                                           const CuptiLoader& cupti = systemCupti());

}  // namespace kernelscope
