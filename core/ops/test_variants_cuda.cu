#include <cuda_runtime.h>

namespace kernelscope {
namespace {

__global__ void endless_kernel(volatile unsigned* never) {
    while (*never == 0) {
    }
}

}  // namespace

// Declared in test_variants.h, which needs torch's headers; nvcc does without them.
void launchEndlessKernel(void* stream) {
    unsigned* never = nullptr;
    if (cudaMalloc(&never, sizeof *never) != cudaSuccess || cudaMemset(never, 0, sizeof *never) != cudaSuccess) return;
    endless_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(never);
    (void)cudaGetLastError();
}

}  // namespace kernelscope
