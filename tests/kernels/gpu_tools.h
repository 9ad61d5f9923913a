#pragma once
// Device copies of test tensors, streams and graphs.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/kernels/test_data.h"

namespace kernelscope::test {

#define KS_CUDA_OK(call) ASSERT_EQ(call, cudaSuccess)

struct CudaFree {
    void operator()(void* p) const { cudaFree(p); }
};
using DevicePointer = std::unique_ptr<void, CudaFree>;

inline DevicePointer allocate(size_t bytes) {
    void* p = nullptr;
    EXPECT_EQ(cudaMalloc(&p, bytes > 0 ? bytes : 1), cudaSuccess) << bytes;
    return DevicePointer(p);
}

/// The whole buffer of a tensor, guards included, on the device.
class DeviceTensor {
public:
    explicit DeviceTensor(const Tensor& host) : m_host(host), m_memory(allocate(host.bytes().size())) { upload(host); }
    void upload(const Tensor& host) {
        EXPECT_EQ(cudaMemcpy(m_memory.get(), host.bytes().data(), host.bytes().size(), cudaMemcpyHostToDevice), cudaSuccess);
        // From pageable memory the call may return before the copy has arrived, and the tests' stream does not wait for it.
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
    [[nodiscard]] Tensor download() const {
        Tensor copy = m_host;
        EXPECT_EQ(cudaMemcpy(copy.bytes().data(), m_memory.get(), copy.bytes().size(), cudaMemcpyDeviceToHost), cudaSuccess);
        return copy;
    }
    [[nodiscard]] void* data() const { return static_cast<char*>(m_memory.get()) + static_cast<size_t>(m_host.offset()) * bytesOf(m_host.dtype()); }
    [[nodiscard]] int64_t rows() const { return m_host.rows(); }
    [[nodiscard]] int64_t width() const { return m_host.width(); }
    [[nodiscard]] int64_t stride() const { return m_host.stride(); }
    [[nodiscard]] int dtype() const { return m_host.dtype(); }
    [[nodiscard]] size_t payloadBytes() const { return static_cast<size_t>(m_host.rows() * m_host.width()) * bytesOf(m_host.dtype()); }

private:
    Tensor m_host;
    DevicePointer m_memory;
};

template <class V>
DevicePointer toDevice(const std::vector<V>& values) {
    DevicePointer p = allocate(values.size() * sizeof(V));
    EXPECT_EQ(cudaMemcpy(p.get(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return p;
}

/// Runs `work` captured in a graph, `replays` times, and waits.
inline void runAsGraph(cudaStream_t stream, const std::function<void()>& work, int replays = 1) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    KS_CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work();
    KS_CUDA_OK(cudaStreamEndCapture(stream, &graph));
    KS_CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < replays; ++i) KS_CUDA_OK(cudaGraphLaunch(exec, stream));
    KS_CUDA_OK(cudaStreamSynchronize(stream));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/// A fixture with a stream, skipped where there is no GPU.
class Gpu : public ::testing::Test {
protected:
    void SetUp() override {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
            (void)cudaGetLastError();
            GTEST_SKIP() << "no CUDA device";
        }
        KS_CUDA_OK(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking));
    }
    void TearDown() override {
        if (m_stream == nullptr) return;
        EXPECT_EQ(cudaStreamSynchronize(m_stream), cudaSuccess);
        cudaStreamDestroy(m_stream);
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    }
    cudaStream_t m_stream = nullptr;
};

/// GPU and CPU kernels differ by the order of sums and the last bit of exp, so rarely and little.
inline void expectClose(const Tensor& found, const Tensor& wanted, const std::string& what) {
    const Difference d = compare(found, wanted);
    EXPECT_LE(d.worstSteps, found.dtype() == KS_FLOAT32 ? 8 : 2) << what;
    EXPECT_LE(d.share(), found.dtype() == KS_FLOAT32 ? 1.0 : 0.003) << what;
    EXPECT_TRUE(found.guardsIntact()) << what << " wrote outside its rows";
}

}  // namespace kernelscope::test
