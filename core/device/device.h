#pragma once
// CPU and CUDA behind one interface: what exists, what "auto" means, clocks, memory, surroundings.

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>

#include "core/device/border_clock.h"
#include "core/records/protocol.h"
#include "core/records/result.h"

namespace kernelscope {

/// A device chosen for a job.
struct Device {
    at::Device torch{at::kCPU};
    DeviceInfo info;

    [[nodiscard]] bool isCuda() const { return torch.is_cuda(); }
};

/// Every device here, usable or not (`problem` says why), GPUs first, the CPU last.
std::vector<DeviceInfo> listDevices();

/// auto (the first usable GPU, else the CPU), cpu, cuda, cuda:N. Errors: environment when there is no such device,
/// with what there is; usage when the text is none of these.
Result<Device> openDevice(const std::string& argument);

/// Makes the device current for the calling thread. Every thread that works on it calls this first.
Result<void> activate(const Device& device);

/// Bytes that can be allocated now.
Result<std::int64_t> freeBytes(const Device& device);

std::unique_ptr<BorderClock> makeBorderClock(const Device& device);

/// Waits until the device is idle; a fault of an earlier kernel surfaces here as an error in words.
Result<void> synchronize(const Device& device);

/// "auto", float16, bfloat16, float32 -> the type to run. `checkpointDtype` is what the files hold, empty for presets.
Result<at::ScalarType> chooseDtype(const std::string& argument, const Device& device, const std::string& checkpointDtype);
std::string dtypeName(at::ScalarType dtype);

/// What a figure depends on besides the code: CPU, threads, OS, libtorch, GPU, driver, clocks, precision flags.
nlohmann::json describeEnvironment(const Device& device);

}  // namespace kernelscope
