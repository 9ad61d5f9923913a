#include "core/engine/doctor.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "core/device/cuda_support.h"
#include "core/device/device.h"
#include "core/measure/device_trace.h"
#include "core/model/hub_cache.h"
#include "core/model/resources.h"

namespace kernelscope {
namespace {

nlohmann::json check(const char* name, const char* status, const std::string& finding, const char* why, const std::string& fix = {}) {
    return {{"check", name}, {"status", status}, {"finding", finding}, {"why", why}, {"fix", fix}};
}

nlohmann::json libtorchCheck() {
    return check("libtorch", "ok", fmt::format("{}, {}, {} CPU threads", TORCH_VERSION, cuda::buildText(), at::get_num_threads()), "the models run in it");
}

/// Which GPU, which driver; and NVML, whose absence takes clocks and throttling from every run.
nlohmann::json driverCheck(const Device& gpu) {
    const nlohmann::json found = describeEnvironment(gpu);
    const auto text = [&](const char* key) { return found.contains(key) && found[key].is_string() ? found[key].get<std::string>() : std::string("not known"); };
    const std::string facts = fmt::format("{}, compute capability {}, driver {} (CUDA {})", text("gpu"), text("compute_capability"), text("driver"), text("cuda_driver_api"));
    if (found.contains("driver")) return check("driver", "ok", facts, "everything on the GPU");
    return check("driver", "warning", facts + (found.contains("nvml") ? "; NVML: " + text("nvml") : ""), "clocks, temperature and throttling beside each measurement",
                 "install the driver's management library (libnvidia-ml.so.1, in a container: the utility capability); measurements work without it");
}

/// Runs one kernel of ours: a binary without code for this GPU fails here, in words, and not in the middle of a job.
nlohmann::json kernelCheck(const Device& gpu) {
    constexpr const char* kWhy = "our kernels and the measuring ones have to run on this GPU";
    const Result<std::int64_t> stepNs = cuda::clockStepNs();
    if (!stepNs) {
        return check("kernels", "failed", fmt::format("this build has no code for {}: {}", gpu.info.name, stepNs.error().message), kWhy,
                     "build with KERNELSCOPE_PRESET=release, or on the machine with the GPU");
    }
    if (*stepNs > 100) {
        return check("kernels", "warning", fmt::format("they run; the GPU's clock steps by {} ns", *stepNs), kWhy,
                     "GPU time is then measured with events as marks: complete, but less exact for short kernels");
    }
    return check("kernels", "ok", fmt::format("they run; the GPU's clock steps by {} ns", *stepNs), kWhy);
}

/// CUPTI is tried, not assumed: it is there and refuses on many machines.
nlohmann::json cuptiCheck(const Device& gpu) {
    constexpr const char* kWhy = "only `profile --cross-check` uses CUPTI; every profile is complete without it";
    const at::Tensor tensor = at::zeros({1024}, at::TensorOptions().device(gpu.torch));
    const auto trace = traceDevice([&] { (void)tensor.add(1); }, 2, gpu, {});
    if (trace) return check("CUPTI", "ok", "it records kernels here", kWhy);
    return check("CUPTI", "unavailable", trace.error().message, kWhy, trace.error().advice);
}

nlohmann::json hubCheck() {
    constexpr const char* kWhy = "models that Python tools have fetched are found there by their hub id";
    const std::filesystem::path folder = hubCacheFolder();
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored)) return check("hub cache", "ok", folder.string(), kWhy);
    return check("hub cache", "unavailable", fmt::format("{} does not exist", folder.string()), kWhy, "set HF_HUB_CACHE if it is elsewhere; presets and folders need none");
}

nlohmann::json tokenizerCheck() {
    constexpr const char* kWhy = "presets turn text into token ids with it";
    const auto found = findResource("tokenizer/qwen2.5");
    if (found) return check("bundled tokenizer", "ok", found->string(), kWhy);
    return check("bundled tokenizer", "failed", found.error().message, kWhy, "install the share/kernelscope folder beside the programs, or set KERNELSCOPE_RESOURCES");
}

}  // namespace

nlohmann::json examineMachine() {
    const c10::InferenceMode inference;
    nlohmann::json checks = nlohmann::json::array({libtorchCheck(), hubCheck(), tokenizerCheck()});
    const Result<Device> gpu = openDevice("cuda");
    if (!gpu) return {{"checks", checks}};  // the device list has said why
    if (const Result<void> active = activate(*gpu); !active) {
        checks.push_back(check("kernels", "failed", active.error().message, "the GPU cannot be used at all", active.error().advice));
        return {{"checks", checks}};
    }
    checks.push_back(driverCheck(*gpu));
    checks.push_back(kernelCheck(*gpu));
    checks.push_back(cuptiCheck(*gpu));
    return {{"checks", checks}};
}

}  // namespace kernelscope
