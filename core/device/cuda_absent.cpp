#include "core/device/cuda_support.h"
#include "core/device/nvml.h"

namespace kernelscope::cuda {
namespace {
const std::string kWhy = "this engine was built without CUDA";

Error absent() {
    return makeError(ErrorCode::environment, kWhy, "Use --device cpu, or build with the preset dev or release.");
}
}  // namespace

std::vector<DeviceInfo> devices() {
    DeviceInfo info;
    info.id = "cuda";
    info.name = "CUDA";
    info.problem = kWhy;
    return {info};
}
std::string buildText() { return "no CUDA"; }
std::string pciBusId(int) { return {}; }
Result<void> activate(int) { return absent(); }
Result<Memory> memory(int) { return absent(); }
std::unique_ptr<BorderClock> makeBorderClock(EventCall) { return nullptr; }
Result<void> synchronize() { return {}; }
Result<std::int64_t> clockStepNs() { return absent(); }
void emptyCache() {}
nlohmann::json environment(int) { return nlohmann::json::object(); }

}  // namespace kernelscope::cuda

namespace kernelscope::nvml {

Telemetry sample(const std::string&) {
    Telemetry none;
    none.reason = cuda::kWhy;
    return none;
}
nlohmann::json environment(const std::string&) { return nlohmann::json::object(); }

}  // namespace kernelscope::nvml
