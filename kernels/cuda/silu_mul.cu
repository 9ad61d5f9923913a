// silu_mul on CUDA: which kernel, and its grid.

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/silu_mul_kernels.cuh"

namespace kernelscope::kernels::cuda {
namespace {

SiluMulParams paramsOf(const SiluMulArguments& a) {
    SiluMulParams p{a.out, a.gate, a.up, a.gateStride, a.upStride, a.outStride, a.rows, a.width, 0, KS_TRIGGER_TOP, 0};
    // Without gaps between the rows the whole is one long row: no row ends inside a block.
    if (a.rows == 1 || (a.gateStride == a.width && a.upStride == a.width && a.outStride == a.width)) {
        p.width = a.rows * a.width;
        p.rows = 1;
    }
    return p;
}

template <class T>
int run(const SiluMulArguments& a, const ks_launch_options& options, cudaStream_t stream) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    SiluMulParams p = paramsOf(a);
    Launch launch;
    launch.stream = stream;
    launch.programmatic = device.computeCapability >= 90 && (options.flags & KS_FLAG_PLAIN_LAUNCH) == 0;
    constexpr int kBytes = sizeof(T);
    const bool vectors = p.width % Vector<T>::kElements == 0 && alignedTo16({a.gate, p.rows, p.width, p.gateStride}, kBytes) &&
                         alignedTo16({a.up, p.rows, p.width, p.upStride}, kBytes) &&
                         alignedTo16({a.out, p.rows, p.width, p.outStride}, kBytes);
    constexpr int kThreads = 256;
    const int64_t chunk = kThreads * (vectors ? Vector<T>::kElements : 1);
    int64_t perRow = (p.width + chunk - 1) / chunk;
    launch.threads = kThreads;
    if (vectors && perRow <= kMaxBlocks / p.rows) {
        p.blocksPerRow = static_cast<int>(perRow);
        launch.blocks = perRow * p.rows;
        return start(silu_mul_vector_kernel<T, kThreads, 1>, p, launch);
    }
    perRow = perRow < 65536 ? perRow : 65536;
    p.blocksPerRow = static_cast<int>(perRow);
    launch.blocks = p.rows < kMaxBlocks / perRow ? p.rows * perRow : kMaxBlocks;
    return start(silu_mul_loop_kernel<T>, p, launch);
}

}  // namespace

int siluMul(const SiluMulArguments& a, const ks_launch_options& options, void* stream) {
    auto* const on = static_cast<cudaStream_t>(stream);
    switch (a.dtype) {
        case KS_FLOAT32: return run<float>(a, options, on);
        case KS_FLOAT16: return run<__half>(a, options, on);
        default: return run<__nv_bfloat16>(a, options, on);
    }
}

}  // namespace kernelscope::kernels::cuda
