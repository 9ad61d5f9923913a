#pragma once
// A block a row, the row in registers, the number of threads chosen at launch: every aligned width up to 4096 vectors. The general kernel of
// devices and shapes that no table row covers.

#include "kernels/cuda/norm_params.h"
#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

template <class T, bool kAdd, int kVectors>
__global__ __launch_bounds__(512) void norm_flex_kernel(NormParams p) {
    constexpr int kElements = Vector<T>::kElements;
    __shared__ float partials[32];
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    const auto rowBytes = static_cast<uint32_t>(p.hidden * static_cast<int64_t>(sizeof(T)));
    const auto hidden = static_cast<int>(p.hidden);
    const T* weight = static_cast<const T*>(p.weight);
    int64_t row = blockIdx.x;
    if (threadIdx.x == 0 && blockIdx.x == 0) prefetchToL2(weight, rowBytes);
    if (threadIdx.x == 0 && static_cast<int>(blockIdx.x) < p.prefetchBlocks) {
        prefetchToL2(static_cast<const T*>(p.x) + row * p.xStride, rowBytes);
        if constexpr (kAdd) prefetchToL2(static_cast<const T*>(p.residual) + row * p.residualStride, rowBytes);
    }
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    for (; row < p.rows; row += gridDim.x) {
        const T* x = static_cast<const T*>(p.x) + row * p.xStride;
        T* out = static_cast<T*>(p.out) + row * p.outStride;
        Vector<T> v[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int at = (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kElements;
            v[i] = at < hidden ? Vector<T>::load(x + at) : Vector<T>::zero();
        }
        if constexpr (kAdd) {
            const T* residual = static_cast<const T*>(p.residual) + row * p.residualStride;
            T* total = static_cast<T*>(p.residualOut) + row * p.residualOutStride;
            Vector<T> r[kVectors];
#pragma unroll
            for (int i = 0; i < kVectors; ++i) {
                const int at = (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kElements;
                r[i] = at < hidden ? Vector<T>::load(residual + at) : Vector<T>::zero();
            }
#pragma unroll
            for (int i = 0; i < kVectors; ++i) {
                const int at = (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kElements;
                v[i] = add(v[i], r[i]);
                if (at < hidden) v[i].store(total + at);
            }
        }
        triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);
        float squares = 0.0f;
#pragma unroll
        for (int i = 0; i < kVectors; ++i) squares = sumOfSquares(v[i], squares);
        const float scale = rsqrtf(blockSum(squares, partials) * p.inverseHidden + p.eps);
        Vector<T> w[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int at = (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kElements;
            w[i] = at < hidden ? Vector<T>::load(weight + at) : Vector<T>::zero();
        }
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int at = (i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kElements;
            if (at < hidden) scaled(v[i], scale, w[i]).store(out + at);
        }
        if (row + gridDim.x < p.rows) __syncthreads();  // partials are written again in the next round
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
}

}  // namespace kernelscope::kernels::cuda
