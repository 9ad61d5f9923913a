#pragma once
// CUDA objects that clean up after themselves, and what the tuner needs beside the kernels under test.

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace kernelscope::tune {

inline void require(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

class Buffer {
public:
    Buffer() = default;
    explicit Buffer(size_t bytes) : m_bytes(bytes) { require(cudaMalloc(&m_data, bytes), "cudaMalloc"); }
    Buffer(Buffer&& other) noexcept : m_data(std::exchange(other.m_data, nullptr)), m_bytes(std::exchange(other.m_bytes, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(m_data, other.m_data);
        std::swap(m_bytes, other.m_bytes);
        return *this;
    }
    ~Buffer() { cudaFree(m_data); }
    [[nodiscard]] char* data() const { return static_cast<char*>(m_data); }
    [[nodiscard]] size_t bytes() const { return m_bytes; }

private:
    void* m_data = nullptr;
    size_t m_bytes = 0;
};

class Stream {
public:
    Stream() { require(cudaStreamCreateWithFlags(&m_stream, cudaStreamNonBlocking), "cudaStreamCreate"); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(m_stream); }
    [[nodiscard]] cudaStream_t get() const { return m_stream; }

private:
    cudaStream_t m_stream = nullptr;
};

class Event {
public:
    Event() { require(cudaEventCreate(&m_event), "cudaEventCreate"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(m_event); }
    [[nodiscard]] cudaEvent_t get() const { return m_event; }

private:
    cudaEvent_t m_event = nullptr;
};

class Graph {
public:
    explicit Graph(cudaGraphExec_t exec) : m_exec(exec) {}
    Graph(Graph&& other) noexcept : m_exec(std::exchange(other.m_exec, nullptr)) {}
    Graph& operator=(Graph&& other) noexcept {
        std::swap(m_exec, other.m_exec);
        return *this;
    }
    ~Graph() {
        if (m_exec != nullptr) cudaGraphExecDestroy(m_exec);
    }
    void launch(cudaStream_t stream) const { require(cudaGraphLaunch(m_exec, stream), "cudaGraphLaunch"); }

private:
    cudaGraphExec_t m_exec = nullptr;
};

/// Small random values, so that no kernel is timed on zeros: bfloat16 or float16 bit patterns of about 0.25 to 2, either sign.
void fillRandom(void* to, size_t bytes, int dtype, uint32_t seed, cudaStream_t stream);

/// Angles' cosines and sines as rope takes them: [positions, head_dim], halves equal.
void fillTables(float* cos, float* sin, int positions, int headDim, cudaStream_t stream);
void fillPositions(int64_t* positions, int64_t count, int64_t first, cudaStream_t stream);

/// Reads a buffer of `bytes`, so that L2 holds clean lines of it and nothing else.
void readAll(const void* from, size_t bytes, void* sink, cudaStream_t stream);

}  // namespace kernelscope::tune
