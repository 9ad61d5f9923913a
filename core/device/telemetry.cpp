#include "core/device/telemetry.h"

#include "core/device/cuda_support.h"
#include "core/device/nvml.h"

namespace kernelscope {

Telemetry sampleTelemetry(const Device& device) {
    Telemetry state;
    if (device.isCuda()) {
        state = nvml::sample(cuda::pciBusId(device.torch.index()));
    } else {
        state.reason = "a CPU device has no GPU clocks to watch";
    }
    state.device = device.info.id;
    return state;
}

}  // namespace kernelscope
