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
    if constexpr (sizeof(T) == 4) {
#pragma unroll
        for (float& v : values) v = silu(v);
    } else {
        float lowest = values[0];
#pragma unroll
        for (int i = 1; i < kElements; ++i) lowest = fminf(lowest, values[i]);
        if (lowest > kSiluLowest) {
#pragma unroll
            for (float& v : values) v = siluInRange(v);
        } else {
#pragma unroll
            for (float& v : values) v = silu(v);
        }
    }
    return multiply(Vector<T>::fromFloats(values), up);
}

/// A block takes kThreads * kVectors neighbouring vectors of one row; contiguous operands count as a single row.
template <class T, int kThreads, int kVectors>
__global__ __launch_bounds__(kThreads) void silu_mul_vector_kernel(SiluMulParams p) {
    constexpr int kElements = Vector<T>::kElements;
    constexpr int kChunk = kThreads * kVectors * kElements;
    triggerAt(KS_TRIGGER_TOP, p.trigger);
    const auto row = static_cast<int64_t>(blockIdx.x / static_cast<unsigned>(p.blocksPerRow));
    const auto chunk = static_cast<int64_t>(blockIdx.x % static_cast<unsigned>(p.blocksPerRow));
    const int64_t first = chunk * kChunk;
    const T* gate = static_cast<const T*>(p.gate) + row * p.gateStride + first;
    const T* up = static_cast<const T*>(p.up) + row * p.upStride + first;
    T* out = static_cast<T*>(p.out) + row * p.outStride + first;
    const int64_t left = p.width - first;
    if (static_cast<int>(blockIdx.x) < p.prefetchBlocks && threadIdx.x < 2) {
        const int64_t elements = left < kChunk ? left : kChunk;
        prefetchToL2(threadIdx.x == 0 ? gate : up, static_cast<uint32_t>(elements * static_cast<int64_t>(sizeof(T))));
    }
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);
    Vector<T> gates[kVectors], ups[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + static_cast<int>(threadIdx.x)) * kElements;
        if (at < left) {
            gates[i] = Vector<T>::load(gate + at);
            ups[i] = Vector<T>::load(up + at);
        }
    }
    triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + static_cast<int>(threadIdx.x)) * kElements;
        if (at < left) gated(gates[i], ups[i]).store(out + at);
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
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
