#include "core/device/cuda_support.h"

#include <array>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/device/cuda_marks.h"
#include "core/device/driver_function.h"

namespace kernelscope::cuda {
namespace {

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

/// Reads the error and clears what can be cleared, so that it cannot surface in a later call.
std::string words(cudaError_t status) {
    (void)cudaGetLastError();
    return fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

Error failure(const std::string& what, cudaError_t status) {
    return makeError(ErrorCode::environment, what + ": " + words(status),
                     "Check the driver with nvidia-smi; `kernelscope-cli doctor` says more. --device cpu works without a GPU.");
}

std::string whyNone(cudaError_t status, int count) {
    if (status == cudaSuccess && count == 0) return "no NVIDIA GPU is visible (CUDA_VISIBLE_DEVICES hides all of them?)";
    switch (status) {
        case cudaErrorNoDevice: return "no NVIDIA GPU found";
        case cudaErrorInsufficientDriver: return "no NVIDIA driver, or one older than CUDA " + version(CUDART_VERSION) + " needs";
        default: return words(status);
    }
}

/// Events are made once and used again: creating them inside a pass costs more than recording them. In a pass that waits for the host, what
/// mark() costs is added to it border by border: so the stream is looked up once a pass, and the driver is called without the runtime between.
class CudaBorderClock final : public BorderClock {
public:
    explicit CudaBorderClock(EventCall how) : m_prefetch(how == EventCall::driverPrefetched) {
        if (how != EventCall::runtime) m_record = driverFunction<Record>("cuEventRecord", 2000);
        if (!m_record) m_record = [](CUevent event, CUstream stream) { return static_cast<CUresult>(cudaEventRecord(event, stream)); };  // 0 is success in both
        reset();
    }
    ~CudaBorderClock() override {
        for (cudaEvent_t event : m_events) cudaEventDestroy(event);
    }
    void reset() override {
        m_used = 0;
        m_stream = c10::cuda::getCurrentCUDAStream().stream();
    }
    int mark() override {
        if (m_used == m_events.size()) {
            cudaEvent_t event = nullptr;
            C10_CUDA_CHECK(cudaEventCreate(&event));
            m_events.push_back(event);
        }
        const CUresult status = m_record(m_events[m_used], m_stream);
        if (status != CUDA_SUCCESS) [[unlikely]] {
            TORCH_CHECK(false, "an event could not be recorded (CUDA error ", static_cast<int>(status), ")");
        }
        ++m_used;
        if (m_prefetch && m_used < m_events.size()) {  // by the next border the model will have taken the caches
            const char* next = reinterpret_cast<const char*>(m_events[m_used]);
            for (int line = 0; line < 3; ++line) __builtin_prefetch(next + 64 * line, 1);
        }
        return static_cast<int>(m_used) - 1;
    }
    void wait() override {
        if (m_used > 0) C10_CUDA_CHECK(cudaEventSynchronize(m_events[m_used - 1]));
    }
    double betweenUs(int a, int b) const override {
        if (a == b) return 0;  // neighbours that share a border
        float milliseconds = 0;
        C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, m_events.at(static_cast<std::size_t>(a)),
                                            m_events.at(static_cast<std::size_t>(b))));
        return 1000.0 * static_cast<double>(milliseconds);
    }

private:
    using Record = CUresult (*)(CUevent, CUstream);
    std::vector<cudaEvent_t> m_events;
    std::size_t m_used = 0;
    cudaStream_t m_stream = nullptr;
    Record m_record = nullptr;
    bool m_prefetch;
};

}  // namespace

std::vector<DeviceInfo> devices() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        DeviceInfo none;
        none.id = "cuda";
        none.name = "CUDA";
        none.problem = whyNone(status, count);
        (void)cudaGetLastError();
        return {none};
    }
    std::vector<DeviceInfo> found;
    for (int index = 0; index < count; ++index) {
        DeviceInfo info;
        info.id = fmt::format("cuda:{}", index);
        info.defaultDtype = "float16";
        cudaDeviceProp properties{};
        if (const cudaError_t failed = cudaGetDeviceProperties(&properties, index); failed != cudaSuccess) {
            info.name = info.id;
            info.problem = words(failed);
        } else {
            info.name = properties.name;
            info.memoryBytes = static_cast<std::int64_t>(properties.totalGlobalMem);
            info.freeBytes = info.memoryBytes;  // asking would create a context on every GPU; memory() asks for one
        }
        found.push_back(std::move(info));
    }
    return found;
}

std::string buildText() { return fmt::format("CUDA {}", version(CUDART_VERSION)); }

std::string pciBusId(int index) {
    std::array<char, 32> text{};
    if (cudaDeviceGetPCIBusId(text.data(), text.size(), index) != cudaSuccess) (void)cudaGetLastError();
    return text.data();
}

Result<void> activate(int index) {
    if (const cudaError_t status = cudaSetDevice(index); status != cudaSuccess) {
        return failure(fmt::format("Device cuda:{} cannot be used", index), status);
    }
    try {
        c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
        c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(false, static_cast<c10::DeviceIndex>(index)));
    } catch (const std::exception& error) {
        return makeError(ErrorCode::environment, fmt::format("Device cuda:{} cannot be used: {}", index, error.what()));
    }
    return {};
}

Result<Memory> memory(int index) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(index));
    std::size_t free = 0, total = 0;
    if (const cudaError_t status = cudaMemGetInfo(&free, &total); status != cudaSuccess) {
        return failure(fmt::format("The memory of cuda:{} cannot be read", index), status);
    }
    return Memory{static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

std::unique_ptr<BorderClock> makeBorderClock(EventCall how) { return std::make_unique<CudaBorderClock>(how); }

Result<void> synchronize() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {  // no GPU here: nothing of ours can run on one
        (void)cudaGetLastError();
        return {};
    }
    const cudaError_t status = cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream().stream());
    if (status != cudaSuccess) return failure("The GPU reported a fault", status);
    return {};
}

Result<std::int64_t> clockStepNs() {
    std::int64_t stepNs = 0;
    const cudaError_t status = readClockStepNs(c10::cuda::getCurrentCUDAStream().stream(), stepNs);
    if (status != cudaSuccess) return failure("A kernel of this build does not run", status);
    return stepNs;
}

void emptyCache() { c10::cuda::CUDACachingAllocator::emptyCache(); }

nlohmann::json environment(int index) {
    nlohmann::json found = nlohmann::json::object();
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) == cudaSuccess) {
        found["gpu"] = properties.name;
        found["compute_capability"] = fmt::format("{}.{}", properties.major, properties.minor);
        found["gpu_memory_bytes"] = static_cast<std::int64_t>(properties.totalGlobalMem);
        found["l2_bytes"] = properties.l2CacheSize;
        found["multiprocessors"] = properties.multiProcessorCount;
    }
    int number = 0;
    if (cudaDriverGetVersion(&number) == cudaSuccess) found["cuda_driver_api"] = version(number);
    if (cudaRuntimeGetVersion(&number) == cudaSuccess) found["cuda_runtime"] = version(number);
    (void)cudaGetLastError();
    return found;
}

}  // namespace kernelscope::cuda
