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

/// The smallest step of %globaltimer seen over a few thousand reads, in ns. 32 on current data-centre GPUs, up to a microsecond or more on
/// others.
cudaError_t readClockStepNs(cudaStream_t stream, std::int64_t& stepNs);

}  // namespace kernelscope::cuda
