#include "core/device/cuda_marks.h"

#include <algorithm>

namespace kernelscope::cuda {
namespace {

__device__ __forceinline__ std::uint64_t globalTimerNs() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

__global__ void mark_kernel(std::uint64_t* slots, std::int64_t index) { slots[index] = globalTimerNs(); }

__global__ void spin_kernel(std::uint64_t nanoseconds) {
    const std::uint64_t begin = globalTimerNs();
    while (globalTimerNs() - begin < nanoseconds) {
    }
}

__global__ void hold_kernel(HoldState* state, std::uint32_t number, std::uint64_t nanoseconds) {
    const std::uint64_t begin = globalTimerNs();
    while (state->released < number) {
        if (globalTimerNs() - begin < nanoseconds) continue;
        state->timedOut = state->timedOut + 1;
        __threadfence_system();
        return;
    }
}

__global__ void clock_step_kernel(std::uint64_t* smallest) {
    std::uint64_t least = ~0ULL;
    std::uint64_t last = globalTimerNs();
    for (int read = 0; read < 20'000; ++read) {
        const std::uint64_t now = globalTimerNs();
        if (now != last && now - last < least) least = now - last;
        last = now;
    }
    *smallest = least == ~0ULL ? 0 : least;
}

}  // namespace

MarkNode::MarkNode(std::uint64_t* slots, std::int64_t index) : m_slots(slots), m_index(index), m_arguments{&m_slots, &m_index} {
    m_params.func = reinterpret_cast<void*>(mark_kernel);
    m_params.gridDim = dim3(1);
    m_params.blockDim = dim3(1);
    m_params.kernelParams = m_arguments;
}

cudaError_t spin(cudaStream_t stream, int microseconds) {
    spin_kernel<<<1, 1, 0, stream>>>(static_cast<std::uint64_t>(std::clamp(microseconds, 0, 2'000)) * 1'000ULL);
    return cudaGetLastError();
}

cudaError_t hold(cudaStream_t stream, HoldState* state, std::uint32_t number, int timeoutMs) {
    hold_kernel<<<1, 1, 0, stream>>>(state, number, static_cast<std::uint64_t>(std::clamp(timeoutMs, 0, 1'000)) * 1'000'000ULL);
    return cudaGetLastError();
}

cudaError_t readClockStepNs(cudaStream_t stream, std::int64_t& stepNs) {
    std::uint64_t* slot = nullptr;
    cudaError_t status = cudaMalloc(&slot, sizeof *slot);
    if (status != cudaSuccess) return status;
    clock_step_kernel<<<1, 1, 0, stream>>>(slot);
    status = cudaGetLastError();
    std::uint64_t step = 0;
    if (status == cudaSuccess) status = cudaMemcpyAsync(&step, slot, sizeof step, cudaMemcpyDeviceToHost, stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    cudaFree(slot);
    stepNs = static_cast<std::int64_t>(step);
    return status;
}

}  // namespace kernelscope::cuda
