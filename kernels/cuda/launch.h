#pragma once
// Starting a kernel with or without the programmatic attribute, and what has to be known of the device for it.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels::cuda {

struct Device {
    int computeCapability = 0;  // 90 for 9.0
    int multiprocessors = 0;
};

/// The current device. Three attribute reads, well under a microsecond together.
inline int currentDevice(Device& device) {
    int id = 0;
    int major = 0;
    int minor = 0;
    cudaError_t error = cudaGetDevice(&id);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, id);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&device.multiprocessors, cudaDevAttrMultiProcessorCount, id);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return KS_ERROR_CUDA + static_cast<int>(error);
    }
    device.computeCapability = 10 * major + minor;
    return KS_OK;
}

struct Launch {
    int64_t blocks = 0;
    int threads = 0;
    int sharedBytes = 0;
    bool programmatic = false;
    cudaStream_t stream = nullptr;
};

constexpr int64_t kMaxBlocks = 0x7fffffff;
constexpr int kSharedWithoutOptIn = 48 * 1024;

template <class Params>
int start(void (*kernel)(Params), const Params& params, const Launch& launch) {
    cudaError_t error = cudaSuccess;
    if (launch.sharedBytes > kSharedWithoutOptIn)
        error = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     launch.sharedBytes);
    if (error == cudaSuccess) {
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
        error = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments);
    }
    if (error == cudaSuccess) return KS_OK;
    (void)cudaGetLastError();  // reported here; leaves nothing for the next call to trip over
    return KS_ERROR_CUDA + static_cast<int>(error);
}

}  // namespace kernelscope::kernels::cuda
