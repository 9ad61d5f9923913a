#include "tests/kernels/gpu_neighbours.cuh"

namespace kernelscope::test {
namespace {

__global__ void late_copy_kernel(uint32_t* to, const uint32_t* from, size_t words, int64_t delayCycles, bool early) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (early) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    const int64_t begin = clock64();
    while (clock64() - begin < delayCycles) {
    }
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step) to[i] = from[i];
}

}  // namespace

cudaError_t lateCopy(void* to, const void* from, size_t bytes, int64_t delayCycles, bool early, cudaStream_t stream) {
    int device = 0;
    int major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(8);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early && major >= 9 ? 1 : 0;
    return cudaLaunchKernelEx(&config, late_copy_kernel, static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from), bytes / 4,
                              delayCycles, early);
}

}  // namespace kernelscope::test
