#pragma once
// Rows arrive in shared memory by bulk copies, kStages rows ahead of the team of threads that works on them. For grids of hundreds to
// thousands of rows, where the start and the end of each block would otherwise leave memory idle.

#include "kernels/cuda/norm_params.h"
#include "kernels/cuda/programmatic.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector_io.cuh"

namespace kernelscope::kernels::cuda {

/// Bytes between two rows in shared memory.
__host__ __device__ inline int ringRowBytes(int64_t hidden, int elementBytes) {
    return (static_cast<int>(hidden) * elementBytes + 127) / 128 * 128;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline void initBarrier(uint64_t* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sharedAddress(barrier)) : "memory");
}

__device__ inline void expectBytes(uint64_t* barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(bytes) : "memory");
}

__device__ inline void copyRow(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sharedAddress(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(sharedAddress(barrier))
                 : "memory");
}

__device__ inline void waitForPhase(uint64_t* barrier, uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(sharedAddress(barrier)),
        "r"(parity)
        : "memory");
}
#endif

/// Dynamic shared memory: kTeams * kStages rows (twice with a residual), each ringRowBytes long.
template <class T, bool kAdd, int kThreads, int kVectors, int kTeams, int kStages>
__global__ __launch_bounds__(kThreads* kTeams) void norm_ring_kernel(NormParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    static_assert(kThreads % 32 == 0);
    constexpr int kElements = Vector<T>::kElements;
    constexpr int kOperands = kAdd ? 2 : 1;
    using Sum = TeamSum<kThreads>;
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ alignas(8) uint64_t arrived[kTeams * kStages];
    __shared__ alignas(16) float partials[kTeams * 2 * Sum::kPartials];  // two sets, so that one barrier a row is enough

    triggerAt(KS_TRIGGER_TOP, p.trigger);
    const int team = static_cast<int>(threadIdx.x) / kThreads;
    const int thread = static_cast<int>(threadIdx.x) % kThreads;
    const auto hidden = static_cast<int>(p.hidden);
    const auto rowBytes = static_cast<uint32_t>(hidden) * static_cast<uint32_t>(sizeof(T));
    const int spacing = ringRowBytes(p.hidden, sizeof(T));
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kTeams + team;
    const int64_t step = static_cast<int64_t>(gridDim.x) * kTeams;
    uint64_t* barriers = arrived + team * kStages;
    unsigned char* slots = ring + static_cast<size_t>(team) * kStages * kOperands * spacing;
    const auto rowOfX = [&](int64_t row) { return static_cast<const T*>(p.x) + row * p.xStride; };
    const auto rowOfResidual = [&](int64_t row) { return static_cast<const T*>(p.residual) + row * p.residualStride; };
    const auto fetch = [&](int64_t row, int stage) {
        unsigned char* slot = slots + stage * kOperands * spacing;
        expectBytes(barriers + stage, kOperands * rowBytes);
        copyRow(slot, rowOfX(row), rowBytes, barriers + stage);
        if constexpr (kAdd) copyRow(slot + spacing, rowOfResidual(row), rowBytes, barriers + stage);
    };
    const T* weight = static_cast<const T*>(p.weight);
    if (threadIdx.x == 0 && blockIdx.x == 0) prefetchToL2(weight, rowBytes);
    if (thread == 0) {
        for (int stage = 0; stage < kStages; ++stage) initBarrier(barriers + stage);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        if (static_cast<int>(blockIdx.x) < p.prefetchBlocks)
            for (int64_t row = first; row < p.rows && row < first + 2 * step; row += step) {
                prefetchToL2(rowOfX(row), rowBytes);
                if constexpr (kAdd) prefetchToL2(rowOfResidual(row), rowBytes);
            }
    }
    __syncthreads();
    waitForPredecessor();
    triggerAt(KS_TRIGGER_AFTER_WAIT, p.trigger);

    if (thread == 0)
        for (int stage = 0; stage < kStages && first + stage * step < p.rows; ++stage) fetch(first + stage * step, stage);
    Vector<T> w[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
        const int at = (i * kThreads + thread) * kElements;
        w[i] = at < hidden ? Vector<T>::load(weight + at) : Vector<T>::zero();
    }
    triggerAt(KS_TRIGGER_AFTER_LOADS, p.trigger);

    const Sum sum(partials + 2 * team * Sum::kPartials, thread);
    int stage = 0;
    uint32_t parity = 0;
    uint32_t set = 0;
    for (int64_t row = first; row < p.rows; row += step) {
        waitForPhase(barriers + stage, parity);
        const T* slot = reinterpret_cast<const T*>(slots + stage * kOperands * spacing);
        Vector<T> v[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int at = (i * kThreads + thread) * kElements;
            v[i] = at < hidden ? Vector<T>::loadShared(slot + at) : Vector<T>::zero();
        }
        if constexpr (kAdd) {
            // All loads before the first store: the compiler must take a store for one that the loads could depend on.
            const T* residual = slot + spacing / static_cast<int>(sizeof(T));
            Vector<T> r[kVectors];
#pragma unroll
            for (int i = 0; i < kVectors; ++i) {
                const int at = (i * kThreads + thread) * kElements;
                r[i] = at < hidden ? Vector<T>::loadShared(residual + at) : Vector<T>::zero();
            }
#pragma unroll
            for (int i = 0; i < kVectors; ++i) v[i] = add(v[i], r[i]);
            T* total = static_cast<T*>(p.residualOut) + row * p.residualOutStride;
#pragma unroll
            for (int i = 0; i < kVectors; ++i) {
                const int at = (i * kThreads + thread) * kElements;
                if (at < hidden) v[i].store(total + at);
            }
        }
        float squares = 0.0f;
#pragma unroll
        for (int i = 0; i < kVectors; ++i) squares += sumOfSquares(v[i], 0.0f);
        squares = sum.sum(squares, set * Sum::kPartials * 4, [team] {
            asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(kThreads) : "memory");
        });
        if constexpr (Sum::kOneWarp) __syncwarp();
        // The whole team has the row in registers: its slot may be filled again.
        if (thread == 0 && row + kStages * step < p.rows) fetch(row + kStages * step, stage);
        const float scale = rsqrtNormal(squares * p.inverseHidden + p.eps);
        T* out = static_cast<T*>(p.out) + row * p.outStride;
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int at = (i * kThreads + thread) * kElements;
            keepPacked(v[i]);
            if (at < hidden) scaled(v[i], scale, w[i]).store(out + at);
        }
        set ^= 1;
        if (++stage == kStages) {
            stage = 0;
            parity ^= 1;
        }
    }
    triggerAt(KS_TRIGGER_END, p.trigger);
#endif
}

}  // namespace kernelscope::kernels::cuda
