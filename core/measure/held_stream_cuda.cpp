#include "core/measure/held_stream.h"

#include <new>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "core/device/cuda_marks.h"
#include "core/device/cuda_support.h"

namespace kernelscope {
namespace {

// Four layers take a host 2 to 4 ms to enqueue.
constexpr int kTimeoutMs = 100;

class CudaHeldQueue final : public HeldQueue {
public:
    CudaHeldQueue() {
        void* memory = nullptr;
        C10_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(cuda::HoldState), cudaHostAllocMapped));
        m_state = new (memory) cuda::HoldState;
        void* device = nullptr;
        C10_CUDA_CHECK(cudaHostGetDevicePointer(&device, memory, 0));
        m_onDevice = static_cast<cuda::HoldState*>(device);
    }
    ~CudaHeldQueue() override {
        m_state->released = m_holds;
        cudaStreamSynchronize(stream());
        cudaFreeHost(m_state);
    }
    CudaHeldQueue(const CudaHeldQueue&) = delete;

    void hold() override {
        const std::uint32_t before = m_holds;
        C10_CUDA_CHECK(cuda::hold(stream(), m_onDevice, before + 1, kTimeoutMs));
        m_holds = before + 1;
        m_state->released = before;  // with the next one behind it, so that the device never runs dry in between
    }
    void release() override { m_state->released = m_holds; }
    int timedOut() override {
        const std::uint32_t count = m_state->timedOut;
        m_state->timedOut = 0;
        return static_cast<int>(count);
    }

private:
    static cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

    cuda::HoldState* m_state = nullptr;
    cuda::HoldState* m_onDevice = nullptr;
    std::uint32_t m_holds = 0;
};

}  // namespace

Result<GraphProfile> measureHeldStream(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, const HeldStreamOptions& options,
                                       const std::function<void(std::int64_t, std::int64_t)>& progress, std::stop_token stop) {
    const std::unique_ptr<BorderClock> clock = cuda::makeBorderClock();
    CudaHeldQueue queue;
    return measureHeldStream(pass, modules, hooks, *clock, queue, options, progress, stop);
}

}  // namespace kernelscope
