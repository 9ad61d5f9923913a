#pragma once
// Large grids of wide rows: the row is read twice and never held, so the registers for it go to more loads in flight. The first pass asks
// the caches to keep the lines, the second lets them go.

#include "kernels/cuda/norm_params.h"
#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
template <class T>
__device__ inline Vector<T> loadAndKeep(const T* p, uint64_t policy) {
    Vector<T> v;
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(v.raw.x), "=r"(v.raw.y), "=r"(v.raw.z), "=r"(v.raw.w)
                 : "l"(__cvta_generic_to_global(p)), "l"(policy)
                 : "memory");
    return v;
}
#endif

/// rms_norm only; kThreads * kVectors vectors must hold a row.
template <class T, int kThreads, int kVectors>
__global__ __launch_bounds__(kThreads, 2048 / kThreads) void norm_two_pass_kernel(NormParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr int kElements = Vector<T>::kElements;
    using Sum = TeamSum<kThreads>;
    __shared__ alignas(16) float partials[Sum::kPartials];
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    const auto hidden = static_cast<int>(p.hidden);
    const int64_t row = blockIdx.x;
    const T* x = static_cast<const T*>(p.x) + row * p.xStride;
    T* out = static_cast<T*>(p.out) + row * p.outStride;
    const T* weight = static_cast<const T*>(p.weight);
    uint64_t keep;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
    const uint64_t drop = evictFirstPolicy();
    if (threadIdx.x == 0 && blockIdx.x == 0) prefetchToL2(weight, static_cast<uint32_t>(hidden) * sizeof(T));
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    float squares = 0.0f;
    Vector<T> v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + static_cast<int>(threadIdx.x)) * kElements;
        v[i] = at < hidden ? loadAndKeep(x + at, keep) : Vector<T>::zero();
    }
    triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) squares = sumOfSquares(v[i], squares);
    squares = Sum(partials, static_cast<int>(threadIdx.x)).sum(squares, [] { __syncthreads(); });
    const float scale = rsqrtNormal(squares * p.inverseHidden + p.eps);
    // All loads first: one at a time would leave memory waiting.
    Vector<T> w[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + static_cast<int>(threadIdx.x)) * kElements;
        if (at < hidden) v[i] = Vector<T>::loadOnce(x + at, drop);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + static_cast<int>(threadIdx.x)) * kElements;
        if (at < hidden) w[i] = Vector<T>::load(weight + at);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + static_cast<int>(threadIdx.x)) * kElements;
        if (at < hidden) scaled(v[i], scale, w[i]).store(out + at);
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
#endif
}

}  // namespace kernelscope::kernels::cuda
