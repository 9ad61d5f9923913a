#pragma once
// Starting a kernel with or without the programmatic attribute, and what has to be known of the device for it.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels::cuda {

struct Device {
    int id = 0;
    int computeCapability = 0;  // 90 for 9.0
    int multiprocessors = 0;

    [[nodiscard]] bool hasProgrammaticLaunch() const { return computeCapability >= 90; }
    [[nodiscard]] bool hasMeasuredTable() const { return computeCapability == 90; }
};

inline int statusOf(cudaError_t error) {
    if (error == cudaSuccess) return KS_OK;
    (void)cudaGetLastError();  // reported by the status; leaves nothing for the next call to trip over
    return KS_ERROR_CUDA + static_cast<int>(error);
}

/// The current device. Attribute reads only, well under a microsecond together.
inline int currentDevice(Device& device) {
    int major = 0;
    int minor = 0;
    cudaError_t error = cudaGetDevice(&device.id);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.id);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.id);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&device.multiprocessors, cudaDevAttrMultiProcessorCount, device.id);
    device.computeCapability = 10 * major + minor;
    return statusOf(error);
}

struct Launch {
    int64_t blocks = 0;
    int threads = 0;
    int sharedBytes = 0;
    bool programmatic = false;
    cudaStream_t stream = nullptr;
};

constexpr int64_t kMaxBlocks = 0x7fffffff;
constexpr int kMostStaticShared = 4 * 1024;  // what our kernels have beside their dynamic shared memory, at most
constexpr int kSharedWithoutOptIn = 48 * 1024 - kMostStaticShared;
constexpr int kSharedPerBlock = 227 * 1024;           // compute capability 9.0
constexpr int kSharedPerMultiprocessor = 228 * 1024;  // the same; a block takes 1 KB beside its own

/// A trigger that no point in a kernel answers to: the successor starts when the kernel has ended.
constexpr int kNoTrigger = -1;

/// Dynamic shared memory that keeps more than `blocks` blocks from sharing a multiprocessor.
inline int paddingFor(int blocksPerSm) {
    if (blocksPerSm <= 0) return 0;
    const int bytes = (kSharedPerMultiprocessor / (blocksPerSm + 1)) / 1024 * 1024;
    return std::min(bytes, kSharedPerBlock);
}

/// How many blocks fetch their rows ahead: those that can start at once, or half of them.
inline int prefetchBlocks(int prefetch, const Device& device, int threads, int blocksPerSm) {
    if (prefetch == KS_PREFETCH_ALL || prefetch == KS_PREFETCH_TABLE) return std::numeric_limits<int>::max();
    if (prefetch != KS_PREFETCH_FIRST_WAVE && prefetch != KS_PREFETCH_HALF_WAVE) return 0;
    const int resident = std::min(32, 2048 / threads);
    const int wave = device.multiprocessors * (blocksPerSm > 0 ? std::min(blocksPerSm, resident) : resident);
    return prefetch == KS_PREFETCH_HALF_WAVE ? wave / 2 : wave;
}

template <class Params>
int start(void (*kernel)(Params), const Params& params, const Launch& launch) {
    const auto* function = reinterpret_cast<const void*>(kernel);
    if (launch.sharedBytes > kSharedWithoutOptIn)
        if (const int status = statusOf(
                cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.sharedBytes));
            status != KS_OK)
            return status;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
    config.blockDim = dim3(static_cast<unsigned>(launch.threads));
    config.dynamicSmemBytes = static_cast<size_t>(launch.sharedBytes);
    config.stream = launch.stream;
    config.attrs = &attribute;
    config.numAttrs = launch.programmatic ? 1 : 0;
    Params copy = params;
    void* arguments[] = {&copy};
    return statusOf(cudaLaunchKernelExC(&config, function, arguments));
}

}  // namespace kernelscope::kernels::cuda
