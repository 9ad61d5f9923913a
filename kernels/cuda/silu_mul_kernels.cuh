#pragma once

#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

struct SiluMulParams {
    void* out;
    const void* gate;
    const void* up;
    int64_t gateStride;
    int64_t upStride;
    int64_t outStride;
    int64_t rows;
    int64_t width;
    int blocksPerRow;
    int trigger;
    int prefetchBlocks;
};

/// silu(gate) rounded to the type, times up, rounded again.
template <class T>
__device__ inline Vector<T> gated(const Vector<T>& gate, const Vector<T>& up) {
    constexpr int kElements = Vector<T>::kElements;
    float values[kElements];
    gate.toFloats(values);
#pragma unroll
    for (float& v : values) v = sizeof(T) == 4 ? silu(v) : siluWithoutBranches(v);
    return multiply(Vector<T>::fromFloats(values), up);
}

/// Few rows need short waits, many rows many warps: the variant for the former leaves the compiler all registers to overlap the elements of
/// a vector, the others keep a multiprocessor full (or three quarters full, where a thread holds two vectors).
constexpr int residentBlocks(Trigger trigger, int threads, int vectors) {
    const int blocks = (vectors == 1 ? 2048 : 1536) / threads;
    return trigger == Trigger::top ? 1 : blocks > 32 ? 32 : blocks;
}

/// A block takes kThreads * kVectors neighbouring vectors of one row; contiguous operands count as a single row.
template <class T, int kThreads, int kVectors, Trigger kTrigger>
__global__ __launch_bounds__(kThreads, residentBlocks(kTrigger, kThreads, kVectors)) void silu_mul_vector_kernel(SiluMulParams p) {
    constexpr int kElements = Vector<T>::kElements;
    constexpr int kChunk = kThreads * kVectors * kElements;
    triggerOnTop<kTrigger>(p.trigger);
    const auto row = static_cast<int64_t>(blockIdx.x / static_cast<unsigned>(p.blocksPerRow));
    const auto chunk = static_cast<int64_t>(blockIdx.x % static_cast<unsigned>(p.blocksPerRow));
    const int64_t first = chunk * kChunk;
    const int64_t left = p.width - first;
    const int end = static_cast<int>(left < kChunk ? left : kChunk);
    const int at = static_cast<int>(threadIdx.x) * kElements;
    const T* gate = static_cast<const T*>(p.gate) + row * p.gateStride + first;
    const T* up = static_cast<const T*>(p.up) + row * p.upStride + first;
    T* out = static_cast<T*>(p.out) + row * p.outStride + first + at;
    if (kTrigger != Trigger::none && static_cast<int>(blockIdx.x) < p.prefetchBlocks && threadIdx.x == 0) {
        prefetchToL2(gate, static_cast<uint32_t>(end) * sizeof(T));
        prefetchToL2(up, static_cast<uint32_t>(end) * sizeof(T));
    }
    gate += at;
    up += at;
    pin(gate);
    pin(up);
    pin(out);
    endPrologueAndWait<kTrigger>(p.rows == 0);
    triggerAfterWait<kTrigger>(p.trigger);
    Vector<T> gates[kVectors], ups[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i)
        gates[i] = i * kThreads * kElements + at < end ? Vector<T>::load(gate + i * kThreads * kElements) : Vector<T>::zero();
#pragma unroll
    for (int i = 0; i < kVectors; ++i)
        ups[i] = i * kThreads * kElements + at < end ? Vector<T>::load(up + i * kThreads * kElements) : Vector<T>::zero();
    triggerAfterLoads<kTrigger>(p.trigger);
#pragma unroll
    for (int i = 0; i < kVectors; ++i)
        if (i * kThreads * kElements + at < end) gated(gates[i], ups[i]).store(out + i * kThreads * kElements);
}

/// Any width, any alignment, any number of rows: one element a thread and step.
template <class T>
__global__ void silu_mul_loop_kernel(SiluMulParams p) {
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    const auto perRow = static_cast<int64_t>(p.blocksPerRow);
    for (int64_t block = blockIdx.x; block < p.rows * perRow; block += gridDim.x) {
        const int64_t row = block / perRow;
        for (int64_t at = block % perRow * blockDim.x + threadIdx.x; at < p.width; at += perRow * blockDim.x) {
            const T gate = static_cast<const T*>(p.gate)[row * p.gateStride + at];
            const T up = static_cast<const T*>(p.up)[row * p.upStride + at];
            static_cast<T*>(p.out)[row * p.outStride + at] = product(fromFloat<T>(silu(toFloat(gate))), up);
        }
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
}

}  // namespace kernelscope::kernels::cuda
