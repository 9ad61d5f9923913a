#pragma once
// Which norm kernel runs, and its grid: shared by rms_norm.cu and add_rms_norm.cu.

#include <algorithm>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm_loop.cuh"

namespace kernelscope::kernels::cuda {

inline bool normVectorsFit(const NormArguments& a, int64_t bytes) {
    return a.hidden * bytes % 16 == 0 && alignedTo16({a.x, a.rows, a.hidden, a.xStride}, bytes) &&
           alignedTo16({a.out, a.rows, a.hidden, a.outStride}, bytes) && alignedTo16({a.weight, 1, a.hidden, a.hidden}, bytes) &&
           alignedTo16({a.residual, a.rows, a.hidden, a.residualStride}, bytes) &&
           alignedTo16({a.residualOut, a.rows, a.hidden, a.residualOutStride}, bytes);
}

template <class T, bool kAdd>
int runNorm(const NormArguments& a, const ks_launch_options& options, cudaStream_t stream) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    NormParams p{a.out, a.residualOut, a.x, a.residual, a.weight, a.xStride, a.residualStride, a.outStride, a.residualOutStride,
                 a.rows, a.hidden, a.eps, 1.0f / static_cast<float>(a.hidden), KS_TRIGGER_TOP, 0};
    Launch launch;
    launch.stream = stream;
    launch.programmatic = device.computeCapability >= 90 && (options.flags & KS_FLAG_PLAIN_LAUNCH) == 0;
    const bool vectors = normVectorsFit(a, sizeof(T));
    const int64_t steps = vectors ? a.hidden / Vector<T>::kElements : a.hidden;
    launch.threads = static_cast<int>(std::clamp<int64_t>((steps + 31) / 32 * 32, 32, 512));
    launch.blocks = std::min(a.rows, kMaxBlocks);
    return vectors ? start(norm_loop_kernel<T, kAdd, true>, p, launch) : start(norm_loop_kernel<T, kAdd, false>, p, launch);
}

template <bool kAdd>
int runNorm(const NormArguments& a, const ks_launch_options& options, void* stream) {
    auto* const on = static_cast<cudaStream_t>(stream);
    switch (a.dtype) {
        case KS_FLOAT32: return runNorm<float, kAdd>(a, options, on);
        case KS_FLOAT16: return runNorm<__half, kAdd>(a, options, on);
        default: return runNorm<__nv_bfloat16, kAdd>(a, options, on);
    }
}

}  // namespace kernelscope::kernels::cuda
