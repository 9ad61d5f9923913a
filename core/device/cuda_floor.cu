#include "core/device/cuda_floor.h"

#include <cstdint>

#include <cuda_runtime.h>

namespace kernelscope::cuda {
namespace {

__global__ void empty_kernel() {}

__global__ void empty_programmatic_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__global__ void read_kernel(const uint4* from, std::size_t count, std::uint32_t* sink) {
    std::uint32_t total = 0;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 v = from[i];
        total += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (total == 0x12345678U) *sink = total;  // keeps the loads; hardly ever true
}

}  // namespace

cudaError_t launchEmpty(cudaStream_t stream, bool programmatic) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = programmatic ? 1 : 0;
    return cudaLaunchKernelEx(&config, programmatic ? empty_programmatic_kernel : empty_kernel);
}

cudaError_t readAll(const void* memory, std::size_t bytes, void* sink, int multiprocessors, cudaStream_t stream) {
    constexpr int kThreads = 512, kBlocksPerMultiprocessor = 16;
    read_kernel<<<multiprocessors * kBlocksPerMultiprocessor, kThreads, 0, stream>>>(static_cast<const uint4*>(memory), bytes / sizeof(uint4),
                                                                                     static_cast<std::uint32_t*>(sink));
    return cudaGetLastError();
}

}  // namespace kernelscope::cuda
