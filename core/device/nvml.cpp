#include "core/device/nvml.h"

#include <array>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "core/device/system.h"

namespace kernelscope::nvml {
namespace {

// The part of NVML's binary interface that we use, which has been stable since 2012 (processes: 2021). Declared here because its
// header is not in every toolkit and the library itself is opened at run time.
using DeviceHandle = struct nvmlDeviceOpaque*;
using Status = int;
constexpr Status kSuccess = 0;
constexpr int kClockSm = 1, kClockMemory = 2;
constexpr int kTemperatureGpu = 0;
struct ProcessInfo {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
};
namespace throttle_bit {
constexpr unsigned long long kPowerCap = 0x4, kHardwareSlowdown = 0x8, kSyncBoost = 0x10, kSoftwareThermal = 0x20, kHardwareThermal = 0x40,
                             kPowerBrake = 0x80;
}

/// The functions we use, looked up by name. `problem` is empty when the library is usable.
struct Library {
    std::string problem;
    const char* (*errorString)(Status) = nullptr;
    Status (*handleByPci)(const char*, DeviceHandle*) = nullptr;
    Status (*clock)(DeviceHandle, int, unsigned*) = nullptr;
    Status (*maxClock)(DeviceHandle, int, unsigned*) = nullptr;
    Status (*temperature)(DeviceHandle, int, unsigned*) = nullptr;
    Status (*power)(DeviceHandle, unsigned*) = nullptr;       // milliwatts
    Status (*powerLimit)(DeviceHandle, unsigned*) = nullptr;  // milliwatts
    Status (*throttle)(DeviceHandle, unsigned long long*) = nullptr;
    Status (*processes)(DeviceHandle, unsigned*, ProcessInfo*) = nullptr;
    Status (*driverVersion)(char*, unsigned) = nullptr;

    Library() {
#ifdef _WIN32
        void* handle = system::openLibrary("nvml.dll");
#else
        void* handle = system::openLibrary("libnvidia-ml.so.1");
#endif
        if (!handle) {
            problem = "NVML is not installed with this driver (libnvidia-ml.so.1 not found)";
            return;
        }
        Status (*init)() = nullptr;
        load(handle, "nvmlInit_v2", init);
        load(handle, "nvmlErrorString", errorString);
        load(handle, "nvmlDeviceGetHandleByPciBusId_v2", handleByPci);
        load(handle, "nvmlDeviceGetClockInfo", clock);
        load(handle, "nvmlDeviceGetMaxClockInfo", maxClock);
        load(handle, "nvmlDeviceGetTemperature", temperature);
        load(handle, "nvmlDeviceGetPowerUsage", power);
        load(handle, "nvmlDeviceGetEnforcedPowerLimit", powerLimit);
        load(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle);
        load(handle, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
        load(handle, "nvmlSystemGetDriverVersion", driverVersion);
        if (!init || !handleByPci || !errorString) {
            problem = "this driver's NVML lacks functions that are needed";
            return;
        }
        if (const Status status = init(); status != kSuccess) {
            problem = fmt::format("NVML will not start: {}", errorString(status));
        }
    }

    template <typename Function>
    static void load(void* handle, const char* name, Function& target) {
        target = reinterpret_cast<Function>(system::symbol(handle, name));
    }
};

const Library& library() {
    static const Library opened;  // once a process: NVML counts its initialisations
    return opened;
}

std::string findDevice(const Library& nvml, const std::string& pciBusId, DeviceHandle& device) {
    if (!nvml.problem.empty()) return nvml.problem;
    const Status status = nvml.handleByPci(pciBusId.c_str(), &device);
    if (status == kSuccess) return {};
    return fmt::format("NVML does not know the GPU at {}: {}", pciBusId, nvml.errorString(status));
}

std::vector<std::string> throttleWords(unsigned long long reasons) {
    struct Reason { unsigned long long bit; const char* words; };
    static constexpr std::array kReasons{
        Reason{throttle_bit::kPowerCap, "power cap"},
        Reason{throttle_bit::kHardwareSlowdown, "hardware slowdown"},
        Reason{throttle_bit::kSyncBoost, "sync boost"},
        Reason{throttle_bit::kSoftwareThermal, "thermal (software)"},
        Reason{throttle_bit::kHardwareThermal, "thermal (hardware)"},
        Reason{throttle_bit::kPowerBrake, "power brake"},
    };
    std::vector<std::string> words;
    for (const Reason& reason : kReasons) {
        if (reasons & reason.bit) words.emplace_back(reason.words);
    }
    return words;
}

}  // namespace

Telemetry sample(const std::string& pciBusId) {
    const Library& nvml = library();
    Telemetry state;
    DeviceHandle device{};
    state.reason = findDevice(nvml, pciBusId, device);
    state.available = state.reason.empty();
    if (!state.available) return state;

    unsigned number = 0;
    if (nvml.clock && nvml.clock(device, kClockSm, &number) == kSuccess) state.smClockMhz = number;
    if (nvml.clock && nvml.clock(device, kClockMemory, &number) == kSuccess) state.memoryClockMhz = number;
    if (nvml.temperature && nvml.temperature(device, kTemperatureGpu, &number) == kSuccess) state.temperatureC = number;
    if (nvml.power && nvml.power(device, &number) == kSuccess) state.powerW = number / 1000.0;
    unsigned long long reasons = 0;
    if (nvml.throttle && nvml.throttle(device, &reasons) == kSuccess) state.throttle = throttleWords(reasons);
    if (nvml.processes) {
        std::array<ProcessInfo, 64> found{};
        unsigned count = found.size();
        if (nvml.processes(device, &count, found.data()) == kSuccess) {
            state.otherProcesses = count > 0 ? static_cast<std::int64_t>(count) - 1 : 0;  // one of them is this engine
        }
    }
    return state;
}

nlohmann::json environment(const std::string& pciBusId) {
    const Library& nvml = library();
    nlohmann::json found = nlohmann::json::object();
    DeviceHandle device{};
    if (const std::string problem = findDevice(nvml, pciBusId, device); !problem.empty()) {
        found["nvml"] = problem;
        return found;
    }
    std::array<char, 96> text{};
    if (nvml.driverVersion && nvml.driverVersion(text.data(), text.size()) == kSuccess) found["driver"] = text.data();
    unsigned number = 0;
    if (nvml.clock && nvml.clock(device, kClockSm, &number) == kSuccess) found["sm_clock_mhz"] = number;
    if (nvml.clock && nvml.clock(device, kClockMemory, &number) == kSuccess) found["memory_clock_mhz"] = number;
    if (nvml.maxClock && nvml.maxClock(device, kClockSm, &number) == kSuccess) found["sm_clock_max_mhz"] = number;
    if (nvml.powerLimit && nvml.powerLimit(device, &number) == kSuccess) found["power_limit_w"] = number / 1000.0;
    return found;
}

}  // namespace kernelscope::nvml
