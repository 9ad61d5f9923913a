#include "core/measure/device_trace.h"

namespace kernelscope {

Result<std::vector<std::vector<DeviceRecord>>> traceDevice(const Pass&, int, const Device&, std::stop_token, const CuptiLoader&) {
    return makeError(ErrorCode::environment, "This engine was built without CUDA: no device trace");
}

}  // namespace kernelscope
