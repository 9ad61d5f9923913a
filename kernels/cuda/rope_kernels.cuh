#pragma once

#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

/// No model's context is longer; what is above was never a position.
inline constexpr int64_t kLargestPosition = int64_t{1} << 24;

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
    int unitsPerToken;
    int trigger;
    int prefetchBlocks;
    int tableBlocks;  // the first blocks of the grid, which only prefetch table rows
};

/// Asks L2 for the table's rows at positions that the predecessor may still write: two latencies in a row, of the position and of the row it
/// names, are what rope waits for at few tokens. Blocks of their own do it, so that no other waits for the early position. A stale or
/// unwritten position fetches a line for nothing: a prefetch of an address that is not mapped does nothing (seen on compute capability 9.0,
/// the only one that comes here), and the row itself is read after the wait, by a position read again. Relaxed, so that the early value is
/// not kept in L1. These blocks end without a wait: all the others wait, so that order stays transitive.
template <int kThreads>
__device__ inline void prefetchTableRows(const RopeParams& p) {
    constexpr unsigned kLine = 128 / sizeof(float);
    const unsigned lines = (static_cast<unsigned>(p.headDim) + kLine - 1) / kLine;  // of a row of one table
    const unsigned index = blockIdx.x * kThreads + threadIdx.x;
    const unsigned token = index / (2 * lines);
    const unsigned line = index % (2 * lines);
    if (token >= p.tokens) return;
    int64_t row;
    asm volatile("ld.relaxed.gpu.global.s64 %0, [%1];" : "=l"(row) : "l"(__cvta_generic_to_global(p.positions + token)) : "memory");
    if (row < 0 || row >= kLargestPosition) return;
    prefetchLine((line < lines ? p.cos : p.sin) + row * p.headDim + line % lines * kLine);
}

/// One vector of the low half and its partner in the high half, turned in place.
template <class T>
__device__ inline void rotate(Vector<T>& low, Vector<T>& high, const Vector<T>& cos, const Vector<T>& sin) {
    const Vector<T> turnedLow = subtract(multiply(low, cos), multiply(high, sin));
    high = add(multiply(high, cos), multiply(low, sin));
    low = turnedLow;
}

/// kElements table values, rounded to the type as the native model keeps them.
template <class T>
__device__ inline Vector<T> loadTable(const float* from) {
    constexpr int kElements = Vector<T>::kElements;
    float values[kElements];
#pragma unroll
    for (int i = 0; i < kElements; i += 4)
        asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(values[i]), "=f"(values[i + 1]), "=f"(values[i + 2]), "=f"(values[i + 3])
                     : "l"(__cvta_generic_to_global(from + i))
                     : "memory");
    return Vector<T>::fromFloats(values);
}

/// A thread owns one vector of a half head and turns it in kHeads heads, so that the table values are read once for all of them. The
/// units of a token are (head group, vector of the half head); units of all tokens are numbered through, a block takes kThreads of them.
template <class T, int kThreads, int kHeads, Trigger kTrigger>
__global__ __launch_bounds__(kThreads, 1) void rope_vector_kernel(RopeParams p) {
    constexpr int kElements = Vector<T>::kElements;
    triggerOnTop<kTrigger>(p.trigger);
    if (kTrigger != Trigger::none && static_cast<int>(blockIdx.x) < p.tableBlocks) {
        prefetchTableRows<kThreads>(p);
        return;
    }
    const unsigned block = blockIdx.x - static_cast<unsigned>(p.tableBlocks);
    const auto unitsPerToken = static_cast<unsigned>(p.unitsPerToken);
    const auto half = static_cast<unsigned>(p.headDim / 2);
    const unsigned perHead = half / kElements;
    const auto heads = static_cast<unsigned>(p.qHeads + p.kvHeads);
    const unsigned groups = (heads + kHeads - 1) / kHeads;
    const unsigned unit = block * kThreads + threadIdx.x;  // fewer than 2^32 come here
    const unsigned token = unit / unitsPerToken;
    const unsigned group = unit % unitsPerToken / perHead;
    const unsigned at = unit % perHead * kElements;  // unitsPerToken is a multiple of perHead
    const bool live = token < p.tokens;
    T* lowAt[kHeads];
    T* highAt[kHeads];
    bool inside[kHeads];
#pragma unroll
    for (int i = 0; i < kHeads; ++i) {
        const unsigned head = group + static_cast<unsigned>(i) * groups;
        const bool isQ = head < static_cast<unsigned>(p.qHeads);
        T* row = isQ ? static_cast<T*>(p.q) + token * p.qStride : static_cast<T*>(p.k) + token * p.kStride;
        lowAt[i] = row + static_cast<int64_t>(isQ ? head : head - static_cast<unsigned>(p.qHeads)) * p.headDim + at;
        highAt[i] = lowAt[i] + half;
        inside[i] = live && head < heads;
        pin(lowAt[i]);
        pin(highAt[i]);
    }
    const int64_t* position = p.positions + (live ? token : 0);
    const float* cosColumn = p.cos + at;
    const float* sinColumn = p.sin + at;
    if (kTrigger != Trigger::none && static_cast<int>(block) < p.prefetchBlocks) {
        prefetchLine(position);
#pragma unroll
        for (int i = 0; i < kHeads; ++i)
            if (inside[i]) {
                prefetchLine(lowAt[i]);
                prefetchLine(highAt[i]);
            }
    }
    pin(position);
    pin(cosColumn);
    pin(sinColumn);
    endPrologueAndWait<kTrigger>(p.tokens == 0);
    triggerAfterWait<kTrigger>(p.trigger);
    int64_t tableRow;
    asm volatile("ld.global.s64 %0, [%1];" : "=l"(tableRow) : "l"(__cvta_generic_to_global(position)) : "memory");
    Vector<T> low[kHeads], high[kHeads];
#pragma unroll
    for (int i = 0; i < kHeads; ++i) {
        low[i] = inside[i] ? Vector<T>::load(lowAt[i]) : Vector<T>::zero();
        high[i] = inside[i] ? Vector<T>::load(highAt[i]) : Vector<T>::zero();
    }
    const Vector<T> cos = loadTable<T>(cosColumn + tableRow * p.headDim);
    const Vector<T> sin = loadTable<T>(sinColumn + tableRow * p.headDim);
#pragma unroll
    for (int i = 0; i < kHeads; ++i) {
        rotate(low[i], high[i], cos, sin);
        if (inside[i]) {
            low[i].store(lowAt[i]);
            high[i].store(highAt[i]);
        }
    }
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
