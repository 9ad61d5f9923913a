#pragma once

#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

struct RopeParams {
    void* q;
    void* k;
    const float* cos;
    const float* sin;
    const int64_t* positions;
    int64_t tokens;
    int64_t qHeads;
    int64_t kvHeads;
    int64_t headDim;
    int64_t qStride;
    int64_t kStride;
    int blocksPerToken;
    int trigger;
    int prefetchBlocks;
};

/// One vector of the low half and its partner in the high half, turned in place.
template <class T>
__device__ inline void rotate(Vector<T>& low, Vector<T>& high, const Vector<T>& cos, const Vector<T>& sin) {
    constexpr int kElements = Vector<T>::kElements;
    float straight[kElements], crossed[kElements];
    multiply(low, cos).toFloats(straight);
    multiply(high, sin).toFloats(crossed);
    float lowTurned[kElements], highTurned[kElements];
#pragma unroll
    for (int i = 0; i < kElements; ++i) lowTurned[i] = __fsub_rn(straight[i], crossed[i]);
    multiply(high, cos).toFloats(straight);
    multiply(low, sin).toFloats(crossed);
#pragma unroll
    for (int i = 0; i < kElements; ++i) highTurned[i] = __fadd_rn(straight[i], crossed[i]);
    low = Vector<T>::fromFloats(lowTurned);
    high = Vector<T>::fromFloats(highTurned);
}

/// kElements table values, rounded to the type as the native model keeps them.
template <class T>
__device__ inline Vector<T> loadTable(const float* from) {
    constexpr int kElements = Vector<T>::kElements;
    float values[kElements];
#pragma unroll
    for (int i = 0; i < kElements; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(from + i);
        values[i] = four.x, values[i + 1] = four.y, values[i + 2] = four.z, values[i + 3] = four.w;
    }
    return Vector<T>::fromFloats(values);
}

/// A thread owns one vector of a half head and turns it in kHeads heads, so that the table values are read once for all of them. The
/// units of a token are (head group, vector of the half head); a block takes kThreads of them.
template <class T, int kThreads, int kHeads>
__global__ __launch_bounds__(kThreads) void rope_vector_kernel(RopeParams p) {
    constexpr int kElements = Vector<T>::kElements;
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    const auto token = static_cast<int64_t>(blockIdx.x / static_cast<unsigned>(p.blocksPerToken));
    const unsigned unit = blockIdx.x % static_cast<unsigned>(p.blocksPerToken) * kThreads + threadIdx.x;
    const auto half = static_cast<unsigned>(p.headDim / 2);
    const unsigned perHead = half / kElements;
    const auto heads = static_cast<unsigned>(p.qHeads + p.kvHeads);
    const unsigned groups = (heads + kHeads - 1) / kHeads;
    const unsigned group = unit / perHead;
    const unsigned at = unit % perHead * kElements;
    T* base[kHeads];
#pragma unroll
    for (int i = 0; i < kHeads; ++i) {
        const unsigned head = group + static_cast<unsigned>(i) * groups;
        const bool isQ = head < static_cast<unsigned>(p.qHeads);
        T* row = isQ ? static_cast<T*>(p.q) + token * p.qStride : static_cast<T*>(p.k) + token * p.kStride;
        const int64_t within = static_cast<int64_t>(isQ ? head : head - static_cast<unsigned>(p.qHeads)) * p.headDim + at;
        base[i] = group < groups && head < heads ? row + within : nullptr;
    }
    if (static_cast<int>(blockIdx.x) < p.prefetchBlocks) {
        if (threadIdx.x == 0) prefetchLine(p.positions + token);
#pragma unroll
        for (int i = 0; i < kHeads; ++i)
            if (base[i] != nullptr) {
                prefetchLine(base[i]);
                prefetchLine(base[i] + half);
            }
    }
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    const int64_t position = p.positions[token];
    Vector<T> low[kHeads], high[kHeads];
#pragma unroll
    for (int i = 0; i < kHeads; ++i)
        if (base[i] != nullptr) {
            low[i] = Vector<T>::load(base[i]);
            high[i] = Vector<T>::load(base[i] + half);
        }
    const Vector<T> cos = loadTable<T>(p.cos + position * p.headDim + at);
    const Vector<T> sin = loadTable<T>(p.sin + position * p.headDim + at);
    triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);
#pragma unroll
    for (int i = 0; i < kHeads; ++i)
        if (base[i] != nullptr) {
            rotate(low[i], high[i], cos, sin);
            low[i].store(base[i]);
            high[i].store(base[i] + half);
        }
    triggerAt(KS_TRIGGER_END, p.trigger);
}

/// Any head size, any alignment: one pair of elements a thread and step.
template <class T>
__global__ void rope_loop_kernel(RopeParams p) {
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    const int64_t half = p.headDim / 2;
    const int64_t pairs = (p.qHeads + p.kvHeads) * half;
    for (int64_t token = blockIdx.x; token < p.tokens; token += gridDim.x) {
        const int64_t table = p.positions[token] * p.headDim;
        for (int64_t pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
            const int64_t head = pair / half;
            const int64_t at = pair % half;
            T* row = head < p.qHeads ? static_cast<T*>(p.q) + token * p.qStride + head * p.headDim
                                     : static_cast<T*>(p.k) + token * p.kStride + (head - p.qHeads) * p.headDim;
            const T low = row[at];
            const T high = row[at + half];
            const T cos = fromFloat<T>(p.cos[table + at]);
            const T sin = fromFloat<T>(p.sin[table + at]);
            row[at] = fromFloat<T>(__fsub_rn(toFloat(product(low, cos)), toFloat(product(high, sin))));
            row[at + half] = fromFloat<T>(__fadd_rn(toFloat(product(high, cos)), toFloat(product(low, sin))));
        }
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
}

}  // namespace kernelscope::kernels::cuda
