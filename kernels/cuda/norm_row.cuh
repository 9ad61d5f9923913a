#pragma once
// The kernels of the tables for a row in registers: fixed threads and vectors, several rows a block or several blocks a row.
//
// A row may be split over kSplit blocks. They do not talk: each reads the whole row for its sum, then normalises and stores one slice. At a
// few rows, reading bytes that lie in L2 anyway is cheaper than putting all of them through one multiprocessor.

#include "kernels/cuda/norm_params.h"
#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

/// When the weight is loaded: early hides its latency behind the sum, late keeps registers free and so more blocks on a multiprocessor.
enum class WeightLoad { early, late };

/// Threads of a multiprocessor that the registers must suffice for: all 2048 where what a thread holds fits 32 registers.
template <bool kAdd, int kVectors, WeightLoad kWeight>
constexpr int residentThreads() {
    if (kWeight == WeightLoad::early) return 1;
    const int held = kVectors * (kAdd ? 2 : 1);
    return held <= 2 ? 2048 : kVectors == 2 ? 1536 : 1280;
}

template <class T, bool kAdd, int kThreads, int kVectors, int kSplit, int kRows, WeightLoad kWeight>
__global__ __launch_bounds__(kThreads* kRows,
                             residentThreads<kAdd, kVectors, kWeight>() / (kThreads * kRows) > 1
                                 ? residentThreads<kAdd, kVectors, kWeight>() / (kThreads * kRows)
                                 : 1) void norm_row_kernel(NormParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    static_assert(kVectors % kSplit == 0 && (kSplit == 1 || kRows == 1));
    constexpr int kElements = Vector<T>::kElements;
    constexpr int kStored = kVectors / kSplit;  // vectors a thread stores: its first ones
    using Sum = TeamSum<kThreads>;
    __shared__ alignas(16) float partials[kRows * Sum::kFloats];

    triggerAt(KS_TRIGGER_TOP, p.trigger);
    const int team = kRows == 1 ? 0 : static_cast<int>(threadIdx.x) / kThreads;
    const int thread = kRows == 1 ? static_cast<int>(threadIdx.x) : static_cast<int>(threadIdx.x) % kThreads;
    const int slice = kSplit == 1 ? 0 : static_cast<int>(blockIdx.x % kSplit);
    const unsigned row = blockIdx.x / kSplit * kRows + static_cast<unsigned>(team);  // fewer than 2^31 rows come here
    const bool live = kRows == 1 || row < p.rows;
    const auto hidden = static_cast<int>(p.hidden);
    // Vector i of a thread: slice s begins with chunk s * kStored, so that what it stores are always its first vectors.
    const auto position = [&](int i) {
        int chunk = i + slice * kStored;
        if (kSplit > 1 && chunk >= kVectors) chunk -= kVectors;
        return (chunk * kThreads + thread) * kElements;
    };
    const T* x = static_cast<const T*>(p.x) + row * p.xStride;
    const T* residual = kAdd ? static_cast<const T*>(p.residual) + row * p.residualStride : nullptr;
    T* total = kAdd ? static_cast<T*>(p.residualOut) + row * p.residualOutStride : nullptr;
    T* out = static_cast<T*>(p.out) + row * p.outStride;
    const T* weight = static_cast<const T*>(p.weight);
    if (threadIdx.x == 0 && blockIdx.x == 0) prefetchToL2(weight, static_cast<uint32_t>(hidden) * sizeof(T));
    if (static_cast<int>(blockIdx.x) < p.prefetchBlocks && thread == 0 && live) {
        const int begin = slice * kStored * kThreads * kElements;
        const int end = kSplit == 1 ? hidden : min(hidden, begin + kStored * kThreads * kElements);
        if (begin < end) {
            prefetchToL2(x + begin, static_cast<uint32_t>(end - begin) * sizeof(T));
            if constexpr (kAdd) prefetchToL2(residual + begin, static_cast<uint32_t>(end - begin) * sizeof(T));
        }
    }
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);

    Vector<T> v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = position(i);
        v[i] = live && at < hidden ? Vector<T>::load(x + at) : Vector<T>::zero();
    }
    if constexpr (kAdd) {
        Vector<T> r[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int at = position(i);
            r[i] = live && at < hidden ? Vector<T>::load(residual + at) : Vector<T>::zero();
        }
        triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);
#pragma unroll
        for (int i = 0; i < kVectors; ++i) v[i] = add(v[i], r[i]);
    } else {
        triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);
    }
    Vector<T> w[kStored];
    const auto loadWeight = [&] {
#pragma unroll
        for (int i = 0; i < kStored; ++i)
            if (position(i) < hidden) w[i] = Vector<T>::load(weight + position(i));
    };
    if constexpr (kWeight == WeightLoad::early) loadWeight();
    if constexpr (kAdd) {
#pragma unroll
        for (int i = 0; i < kStored; ++i)
            if (live && position(i) < hidden) v[i].store(total + position(i));
    }
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) squares = sumOfSquares(v[i], squares);
    squares = Sum::sum(squares, thread, partials + team * Sum::kFloats, [] { __syncthreads(); });
    const float scale = rsqrtNormal(squares * p.inverseHidden + p.eps);
    if constexpr (kWeight == WeightLoad::late) {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) keepPacked(v[i]);
        loadWeight();
    }
#pragma unroll
    for (int i = 0; i < kStored; ++i)
        if (live && position(i) < hidden) scaled(v[i], scale, w[i]).store(out + position(i));
    triggerAt(KS_TRIGGER_END, p.trigger);
#endif
}

}  // namespace kernelscope::kernels::cuda
