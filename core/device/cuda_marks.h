#pragma once
// The measuring kernels: a mark that stores the device's clock, and a spin that holds a stream for a bounded time.

#include <cstdint>

#include <cuda_runtime.h>

namespace kernelscope::cuda {

/// Node parameters of a one-thread kernel that stores %globaltimer (ns) to slots[index]. The arguments live in the
/// object: keep it until the node has been added.
class MarkNode {
public:
    MarkNode(std::uint64_t* slots, std::int64_t index);
    MarkNode(const MarkNode&) = delete;
    const cudaKernelNodeParams* params() const { return &m_params; }

private:
    std::uint64_t* m_slots;
    std::int64_t m_index;
    void* m_arguments[2];
    cudaKernelNodeParams m_params{};
};

/// Holds the stream for `microseconds` (at most 2,000, so that nothing hangs), so that what is enqueued behind it is all
/// there when it starts.
cudaError_t spin(cudaStream_t stream, int microseconds);

/// What a held stream and the host say to each other, in memory that both see. The holds of a stream have numbers 1, 2, ...
struct HoldState {
    volatile std::uint32_t released = 0;  ///< by the host: holds up to this number let go
    volatile std::uint32_t timedOut = 0;  ///< by the device: how many holds ended by themselves
};

/// Holds the stream until state->released reaches `number`, or `timeoutMs` (at most 1,000) have passed. `state` is mapped host memory.
cudaError_t hold(cudaStream_t stream, HoldState* state, std::uint32_t number, int timeoutMs);

/// The smallest step of %globaltimer seen over a few thousand reads, in ns. 32 on current data-centre GPUs, up to a microsecond or more on
/// others.
cudaError_t readClockStepNs(cudaStream_t stream, std::int64_t& stepNs);

}  // namespace kernelscope::cuda
