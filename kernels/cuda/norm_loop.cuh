#pragma once
// The kernel for every shape: a block a row, any width, any alignment, and as many rows a block as it takes. Reads a row twice; the second
// time it comes from the cache. What the faster kernels do not cover ends here.

#include "kernels/cuda/norm_params.h"
#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

/// kVector: rows and weight are aligned to 16 bytes and hold whole vectors.
template <class T, bool kAdd, bool kVector>
__global__ void norm_loop_kernel(NormParams p) {
    __shared__ float partials[32];
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    constexpr int kStep = kVector ? Vector<T>::kElements : 1;
    const auto* weight = static_cast<const T*>(p.weight);
    for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
        const T* x = static_cast<const T*>(p.x) + row * p.xStride;
        const T* residual = kAdd ? static_cast<const T*>(p.residual) + row * p.residualStride : nullptr;
        T* total = kAdd ? static_cast<T*>(p.residualOut) + row * p.residualOutStride : nullptr;
        T* out = static_cast<T*>(p.out) + row * p.outStride;
        float squares = 0.0f;
        for (int64_t at = static_cast<int64_t>(threadIdx.x) * kStep; at < p.hidden; at += static_cast<int64_t>(blockDim.x) * kStep) {
            if constexpr (kVector) {
                Vector<T> v = Vector<T>::load(x + at);
                if constexpr (kAdd) {
                    v = add(v, Vector<T>::load(residual + at));
                    v.store(total + at);
                }
                squares = sumOfSquares(v, squares);
            } else {
                T v = x[at];
                if constexpr (kAdd) total[at] = v = sum(v, residual[at]);
                squares = fmaf(toFloat(v), toFloat(v), squares);
            }
        }
        const float scale = rsqrtf(blockSum(squares, partials) * p.inverseHidden + p.eps);
        // Each thread reads again only what it read (or, for the stored sum, wrote) itself, so in place is right.
        const T* source = kAdd ? total : x;
        for (int64_t at = static_cast<int64_t>(threadIdx.x) * kStep; at < p.hidden; at += static_cast<int64_t>(blockDim.x) * kStep) {
            if constexpr (kVector)
                scaled(Vector<T>::load(source + at), scale, Vector<T>::load(weight + at)).store(out + at);
            else
                out[at] = product(fromFloat<T>(__fmul_rn(toFloat(source[at]), scale)), weight[at]);
        }
        __syncthreads();  // partials are written again in the next round
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
}

}  // namespace kernelscope::kernels::cuda
