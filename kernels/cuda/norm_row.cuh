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

/// Threads of a multiprocessor that the registers must suffice for: all 2048 where what a thread holds fits 32 registers. Long rows in few
/// threads: as many as hold 512 rows on 132 multiprocessors at once.
template <bool kAdd, int kVectors, WeightLoad kWeight>
constexpr int residentThreads() {
    const int held = kVectors * (kAdd ? 2 : 1);
    if (kWeight == WeightLoad::early) return held == 16 ? 512 : 1;
    return held <= 2 ? 2048 : kVectors == 2 ? 1536 : held == 8 ? 1024 : 1280;
}

/// kStream: the rows read and written are told to leave the caches first.
template <class T, bool kAdd, int kThreads, int kVectors, int kSplit, int kRows, WeightLoad kWeight, Trigger kTrigger, bool kStream = false>
__global__ __launch_bounds__(kThreads* kRows,
                             residentThreads<kAdd, kVectors, kWeight>() / (kThreads * kRows) > 1
                                 ? residentThreads<kAdd, kVectors, kWeight>() / (kThreads * kRows)
                                 : 1) void norm_row_kernel(NormParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    static_assert(kVectors % kSplit == 0 && (kSplit == 1 || kRows == 1));
    constexpr int kElements = Vector<T>::kElements;
    constexpr int kStored = kVectors / kSplit;  // vectors a thread stores: its first ones
    using Sum = TeamSum<kThreads>;
    __shared__ alignas(16) float partials[kRows * Sum::kPartials];

    triggerOnTop<kTrigger>(p.trigger);
    const int team = kRows == 1 ? 0 : static_cast<int>(threadIdx.x) / kThreads;
    const int thread = kRows == 1 ? static_cast<int>(threadIdx.x) : static_cast<int>(threadIdx.x) % kThreads;
    const int slice = kSplit == 1 ? 0 : static_cast<int>(blockIdx.x % kSplit);
    const unsigned row = blockIdx.x / kSplit * kRows + static_cast<unsigned>(team);  // fewer than 2^31 rows come here
    const auto hidden = kRows == 1 || row < p.rows ? static_cast<int>(p.hidden) : 0;
    const T* rowOfX = static_cast<const T*>(p.x) + row * p.xStride;
    const T* rowOfResidual = kAdd ? static_cast<const T*>(p.residual) + row * p.residualStride : nullptr;
    const T* weight = static_cast<const T*>(p.weight);
    if (kTrigger != Trigger::none && threadIdx.x == 0 && blockIdx.x == 0)
        prefetchToL2(weight, static_cast<uint32_t>(hidden) * sizeof(T));
    if (kTrigger != Trigger::none && static_cast<int>(blockIdx.x) < p.prefetchBlocks && thread == 0) {
        const int begin = slice * kStored * kThreads * kElements;
        const int end = kSplit == 1 ? hidden : min(hidden, begin + kStored * kThreads * kElements);
        if (begin < end) {
            prefetchToL2(rowOfX + begin, static_cast<uint32_t>(end - begin) * sizeof(T));
            if constexpr (kAdd) prefetchToL2(rowOfResidual + begin, static_cast<uint32_t>(end - begin) * sizeof(T));
        }
    }
    // Vector i of a thread: slice s begins with chunk s * kStored, so that what it stores are always its first vectors.
    int at[kVectors];
    const T* x[kVectors];
    const T* residual[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        int chunk = i + slice * kStored;
        if (kSplit > 1 && chunk >= kVectors) chunk -= kVectors;
        at[i] = (chunk * kThreads + thread) * kElements;
        x[i] = rowOfX + at[i];
        residual[i] = kAdd ? rowOfResidual + at[i] : nullptr;
        if (i == 0 || kSplit > 1) {  // without a split the others are the first plus a constant
            pin(x[i]);
            if constexpr (kAdd) pin(residual[i]);
        } else {
            x[i] = x[0] + i * kThreads * kElements;
            residual[i] = kAdd ? residual[0] + i * kThreads * kElements : nullptr;
        }
    }
    T* out = static_cast<T*>(p.out) + row * p.outStride + at[0];
    T* total = kAdd ? static_cast<T*>(p.residualOut) + row * p.residualOutStride + at[0] : nullptr;
    const T* gain = weight + at[0];
    float inverseHidden = p.inverseHidden;
    float eps = p.eps;
    Sum sum(partials + team * Sum::kPartials, thread);
    if constexpr (kWeight == WeightLoad::early && kTrigger != Trigger::none) {
        pin(out);
        pin(gain);
        if constexpr (kAdd) pin(total);
        pin(inverseHidden);
        pin(eps);
        sum.pin();
    }
    endPrologueAndWait<kTrigger>(p.rows == 0);
    triggerAfterWait<kTrigger>(p.trigger);

    uint64_t once = 0;
    if constexpr (kStream) once = evictFirstPolicy();
    const auto read = [once](const T* from) { return kStream ? Vector<T>::loadOnce(from, once) : Vector<T>::load(from); };
    const auto write = [once](const Vector<T>& vector, T* to) { kStream ? vector.storeOnce(to, once) : vector.store(to); };
    // What is stored lies kThreads vectors apart, whatever the slice.
    Vector<T> w[kStored];
    const auto loadWeight = [&] {
#pragma unroll
        for (int i = 0; i < kStored; ++i) w[i] = at[i] < hidden ? Vector<T>::load(gain + i * kThreads * kElements) : Vector<T>::zero();
    };
    Vector<T> v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) v[i] = at[i] < hidden ? read(x[i]) : Vector<T>::zero();
    Vector<T> r[kVectors];
    if constexpr (kAdd) {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) r[i] = at[i] < hidden ? read(residual[i]) : Vector<T>::zero();
    }
    if constexpr (kWeight == WeightLoad::early) loadWeight();
    // All loads are on their way before anything is computed: left alone, the assembler lets the last of many wait for registers of the first.
    // With few loads a row it costs more than it brings.
    if constexpr (kTrigger == Trigger::none && kVectors >= 4 && kSplit == 1) endBasicBlock(p.rows == 0);
    triggerAfterLoads<kTrigger>(p.trigger);
    if constexpr (kAdd) {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) v[i] = add(v[i], r[i]);
#pragma unroll
        for (int i = 0; i < kStored; ++i)
            if (at[i] < hidden) write(v[i], total + i * kThreads * kElements);
        // Of a long row the sums leave before the shuffles: the assembler would store float16 after them, and half of what is written would wait.
        // In a plain launch the same costs bfloat16 half a percent.
        constexpr bool kLongRow = kSplit == 1 && kThreads * kVectors >= 1024;
        if constexpr (kLongRow && kTrigger != Trigger::none && !kStream) endBasicBlock(p.prefetchBlocks == -1);
    }
    float squares[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) squares[i] = sumOfSquares(v[i], 0.0f);
    const float whole = sum.sum(treeSum<kVectors>(squares), [] { __syncthreads(); });
    const float scale = rsqrtNormal(whole * inverseHidden + eps);
    if constexpr (kWeight == WeightLoad::late) {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) keepPacked(v[i]);
        loadWeight();
    }
    if constexpr (kWeight == WeightLoad::early) {
#pragma unroll
        for (int i = 0; i < kStored; ++i) v[i] = scaled(v[i], scale, w[i]);  // all before the first store, which is conditional
    }
#pragma unroll
    for (int i = 0; i < kStored; ++i)
        if (at[i] < hidden) write(kWeight == WeightLoad::early ? v[i] : scaled(v[i], scale, w[i]), out + i * kThreads * kElements);
    if constexpr (kTrigger == Trigger::byParameter) triggerAt(KS_TRIGGER_END, p.trigger);
#endif
}

}  // namespace kernelscope::kernels::cuda
