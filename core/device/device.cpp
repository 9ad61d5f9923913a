#include "core/device/device.h"

#include <cstdlib>
#include <string_view>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "core/device/cuda_support.h"
#include "core/device/nvml.h"
#include "core/device/system.h"

namespace kernelscope {
namespace {

DeviceInfo cpuInfo() {
    DeviceInfo info;
    info.id = "cpu";
    info.name = system::cpuName();
    info.memoryBytes = system::memoryBytes();
    info.freeBytes = system::availableMemoryBytes();
    info.defaultDtype = "float32";
    return info;
}

/// What stands behind `words` in one of libtorch's reports, to the end of the line or the first of `ends`.
std::string reported(const std::string& report, std::string_view words, std::string_view ends) {
    const std::size_t found = report.find(words);
    if (found == std::string::npos) return {};
    const std::size_t begin = found + words.size();
    return report.substr(begin, report.find_first_of(ends, begin) - begin);
}

/// "OpenMP"
std::string parallelBackend() { return reported(at::get_parallel_info(), "ATen parallel backend: ", "\n"); }

/// "3.7.1"
std::string oneDnnVersion() { return reported(at::show_config(), "MKL-DNN v", " \n"); }

std::optional<int> cudaIndex(const std::string& argument) {
    if (argument == "cuda") return 0;
    if (argument.rfind("cuda:", 0) != 0 || argument.size() < 6 || argument.size() > 8) return std::nullopt;
    int index = 0;
    for (char c : argument.substr(5)) {
        if (c < '0' || c > '9') return std::nullopt;
        index = index * 10 + (c - '0');
    }
    return index;
}

}  // namespace

std::vector<DeviceInfo> listDevices() {
    std::vector<DeviceInfo> all = cuda::devices();
    all.push_back(cpuInfo());
    return all;
}

Result<Device> openDevice(const std::string& argument) {
    if (argument == "cpu") return Device{at::Device(at::kCPU), cpuInfo()};
    const std::vector<DeviceInfo> gpus = cuda::devices();
    if (argument == "auto") {
        for (std::size_t index = 0; index < gpus.size(); ++index) {
            if (gpus[index].problem.empty()) return Device{at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index)), gpus[index]};
        }
        return Device{at::Device(at::kCPU), cpuInfo()};
    }
    const std::optional<int> index = cudaIndex(argument);
    if (!index) {
        return makeError(ErrorCode::usage, fmt::format("There is no device called '{}'", argument), "Use auto, cpu, cuda or cuda:N.");
    }
    if (gpus.size() == 1 && gpus[0].id == "cuda") {
        return makeError(ErrorCode::environment, fmt::format("Device {} cannot be used: {}", argument, gpus[0].problem),
                         "Use --device cpu, or look at `kernelscope-cli doctor`.");
    }
    if (static_cast<std::size_t>(*index) >= gpus.size()) {
        return makeError(ErrorCode::environment, fmt::format("There is no device cuda:{}: this machine has {} GPU{}", *index, gpus.size(),
                                                             gpus.size() == 1 ? "" : "s"),
                         fmt::format("Use cuda:0{}.", gpus.size() > 1 ? fmt::format(" to cuda:{}", gpus.size() - 1) : ""));
    }
    const DeviceInfo& info = gpus[static_cast<std::size_t>(*index)];
    if (!info.problem.empty()) {
        return makeError(ErrorCode::environment, fmt::format("Device {} cannot be used: {}", info.id, info.problem));
    }
    return Device{at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(*index)), info};
}

Result<void> activate(const Device& device) {
    // TF32 would change float32 results by 1e-3; nobody asked for it.
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
    if (device.isCuda()) return cuda::activate(device.torch.index());
    return {};
}

Result<std::int64_t> freeBytes(const Device& device) {
    if (!device.isCuda()) return system::availableMemoryBytes();
    cuda::emptyCache();
    const Result<cuda::Memory> memory = cuda::memory(device.torch.index());
    if (!memory) return memory.error();
    return memory->free;
}

std::unique_ptr<BorderClock> makeBorderClock(const Device& device) {
    return device.isCuda() ? cuda::makeBorderClock() : makeCpuBorderClock();
}

Result<void> synchronize(const Device& device) {
    if (!device.isCuda()) return {};
    return cuda::synchronize();
}

std::string dtypeName(at::ScalarType dtype) {
    switch (dtype) {
        case at::kHalf: return "float16";
        case at::kBFloat16: return "bfloat16";
        case at::kFloat: return "float32";
        default: return at::toString(dtype);
    }
}

Result<at::ScalarType> chooseDtype(const std::string& argument, const Device& device, const std::string& checkpointDtype) {
    std::string name = argument;
    if (name == "auto") {
        name = !device.isCuda() ? "float32" : checkpointDtype.empty() ? "float16" : checkpointDtype;
    }
    if (name == "float16") return at::kHalf;
    if (name == "bfloat16") return at::kBFloat16;
    if (name == "float32") return at::kFloat;
    return makeError(ErrorCode::usage, fmt::format("There is no type called '{}'", name), "Use auto, float16, bfloat16 or float32.");
}

nlohmann::json describeEnvironment(const Device& device) {
    nlohmann::json found = device.isCuda() ? cuda::environment(device.torch.index()) : nlohmann::json::object();
    if (device.isCuda()) found.update(nvml::environment(cuda::pciBusId(device.torch.index())));
    found["device"] = device.info.id;
    found["cpu"] = system::cpuName();
    found["cpu_threads"] = at::get_num_threads();
    found["cpu_parallel_backend"] = parallelBackend();
    found["cpu_interop_threads"] = at::get_num_interop_threads();
    found["onednn"] = at::globalContext().userEnabledMkldnn() && at::hasMKLDNN();
    if (const std::string version = oneDnnVersion(); !version.empty()) found["onednn_version"] = version;
    if (const char* threads = std::getenv("OMP_NUM_THREADS")) found["omp_num_threads"] = threads;
    found["os"] = system::osName();
    found["libtorch"] = TORCH_VERSION;
    found["cuda_build"] = cuda::buildText();
    found["tf32"] = at::globalContext().allowTF32CuBLAS();
    return found;
}

}  // namespace kernelscope
