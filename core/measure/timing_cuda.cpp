// Device time on CUDA: a graph of many calls between two events, replayed behind a short hold; caches emptied before it where the
// cell is a cold one.

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/device/cuda_floor.h"
#include "core/device/cuda_marks.h"
#include "core/measure/execution.h"
#include "core/measure/timing.h"

namespace kernelscope {
namespace {

// One replay should last about a millisecond: long against the events' step of 32 ns, short against everything that drifts.
constexpr double kReplayUs = 1200;
constexpr std::int64_t kLeastCalls = 20, kMostCalls = 200;
// Between two visits to a set, this many times the L2 is touched; the flush alone is two reads of as much.
constexpr std::int64_t kColdFactor = 4;
// A launch of a graph reaches the device in 7 to 30 us; behind a hold this long it is there when it starts.
constexpr int kHoldUs = 100;
constexpr std::int64_t kFloorCalls = 200;
constexpr int kFloorReplays = 15;
constexpr int kCopyRepeats = 7;

void check(cudaError_t status) { C10_CUDA_CHECK(status); }
cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

class EventPair {
public:
    EventPair() {
        check(cudaEventCreate(&m_begin));
        check(cudaEventCreate(&m_end));
    }
    ~EventPair() {
        cudaEventDestroy(m_begin);
        cudaEventDestroy(m_end);
    }
    EventPair(const EventPair&) = delete;
    EventPair& operator=(const EventPair&) = delete;
    void begin() { check(cudaEventRecord(m_begin, stream())); }
    void end() { check(cudaEventRecord(m_end, stream())); }
    double us() {
        check(cudaEventSynchronize(m_end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, m_begin, m_end));
        return 1e3 * static_cast<double>(milliseconds);
    }

private:
    cudaEvent_t m_begin = nullptr, m_end = nullptr;
};

/// A captured graph made executable; the capture object owns the memory that calls allocated.
class ReplayableGraph {
public:
    /// Captures what `enqueue` puts on the current stream. Errors: environment.
    template <typename Enqueue>
    Result<void> capture(const Enqueue& enqueue) {
        m_captured = std::make_unique<at::cuda::CUDAGraph>(/*keep_graph=*/true);
        try {
            m_captured->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
            const Result<void> enqueued = enqueue();
            m_captured->capture_end();
            if (!enqueued) return enqueued;
        } catch (const c10::OutOfMemoryError&) {
            endBrokenCapture();
            throw;
        } catch (const c10::Error& error) {
            endBrokenCapture();
            return makeError(ErrorCode::environment, fmt::format("the calls cannot be captured as a CUDA graph: {}", error.what_without_backtrace()));
        }
        check(cudaGraphInstantiate(&m_exec, m_captured->raw_cuda_graph(), 0));
        check(cudaGraphUpload(m_exec, stream()));
        check(cudaStreamSynchronize(stream()));
        return {};
    }
    ~ReplayableGraph() {
        if (m_exec) cudaGraphExecDestroy(m_exec);
    }
    ReplayableGraph() = default;
    ReplayableGraph(const ReplayableGraph&) = delete;
    ReplayableGraph& operator=(const ReplayableGraph&) = delete;

    void launch() const { check(cudaGraphLaunch(m_exec, stream())); }

private:
    /// The stream would stay in capture mode, and everything after would fail.
    void endBrokenCapture() {
        try {
            m_captured->capture_end();
        } catch (const c10::Error&) {
        }
        (void)cudaGetLastError();
    }

    std::unique_ptr<at::cuda::CUDAGraph> m_captured;
    cudaGraphExec_t m_exec = nullptr;
};

/// Reads twice as much memory as it takes to push everything out of L2.
class Flush {
public:
    Flush(std::int64_t l2Bytes, int multiprocessors) : m_multiprocessors(multiprocessors) {
        const auto options = at::TensorOptions().dtype(at::kByte).device(at::kCUDA);
        m_memory = at::ones({std::max<std::int64_t>(64 << 20, kColdFactor * l2Bytes)}, options);
        m_sink = at::zeros({16}, options);
    }
    void operator()() {
        for (int pass = 0; pass < 2; ++pass) {
            check(cuda::readAll(m_memory.const_data_ptr(), m_memory.nbytes(), m_sink.data_ptr(), m_multiprocessors, stream()));
        }
    }

private:
    at::Tensor m_memory, m_sink;
    int m_multiprocessors;
};

std::int64_t bytesOf(const Operands& operands) {
    std::int64_t bytes = 0;
    for (const Tensors* side : {&operands.inputs, &operands.outputs}) {
        for (const at::Tensor& tensor : *side) bytes += static_cast<std::int64_t>(tensor.nbytes());
    }
    return std::max<std::int64_t>(1, bytes);
}

class CudaCalls final : public PreparedCalls {
public:
    CudaCalls(const Operator& op, const Variant& variant, CacheMode mode, Flush& flush) : m_op(op), m_variant(variant), m_mode(mode), m_flush(flush) {}

    Result<void> prepare(const Operands& example, std::int64_t l2Bytes) {
        m_sets.push_back(ownBuffers(m_op, m_variant, example));
        const Result<double> estimate = estimateUs();
        if (!estimate) return estimate.error();
        m_calls = std::clamp(static_cast<std::int64_t>(kReplayUs / *estimate), kLeastCalls, kMostCalls);
        if (m_mode == CacheMode::cold) {
            const std::int64_t sets = std::min(m_calls, 1 + kColdFactor * l2Bytes / bytesOf(m_sets.front()));
            while (static_cast<std::int64_t>(m_sets.size()) < std::max<std::int64_t>(2, sets)) m_sets.push_back(ownBuffers(m_op, m_variant, example));
        }
        return m_graph.capture([&] { return enqueueAll(); });
    }

    double sampleUs() override {
        if (m_mode == CacheMode::cold) {
            m_flush();
        } else {
            m_graph.launch();  // brings the buffers back where they were
        }
        check(cuda::spin(stream(), kHoldUs));
        m_events.begin();
        m_graph.launch();
        m_events.end();
        return m_events.us() / static_cast<double>(m_calls);
    }

private:
    Result<double> estimateUs() {
        for (int warmup = 0; warmup < 2; ++warmup) {
            if (Result<Tensors> results = callVariant(m_variant, m_sets.front()); !results) return results.error();
        }
        constexpr int kTried = 4;
        check(cuda::spin(stream(), 4 * kHoldUs));
        m_events.begin();
        for (int call = 0; call < kTried; ++call) {
            if (Result<Tensors> results = callVariant(m_variant, m_sets.front()); !results) return results.error();
        }
        m_events.end();
        return std::max(0.5, m_events.us() / kTried);
    }

    Result<void> enqueueAll() {
        // Results that calls allocate stay alive for a rotation, or the next call would write over memory that is still in L2.
        std::vector<Tensors> alive(m_sets.size());
        for (std::int64_t call = 0; call < m_calls; ++call) {
            const std::size_t set = static_cast<std::size_t>(call) % m_sets.size();
            alive[set].clear();
            Result<Tensors> results = callVariant(m_variant, m_sets[set]);
            if (!results) return results.error();
            if (m_mode == CacheMode::chain) m_sets[set] = m_op.next(m_sets[set], *results);
            alive[set] = std::move(*results);
        }
        return {};
    }

    const Operator& m_op;
    const Variant& m_variant;
    CacheMode m_mode;
    Flush& m_flush;
    std::vector<Operands> m_sets;
    std::int64_t m_calls = kLeastCalls;
    ReplayableGraph m_graph;
    EventPair m_events;
};

class CudaMeter final : public Meter {
public:
    explicit CudaMeter(const Device& device) {
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, device.torch.index()));
        m_l2Bytes = std::max<std::int64_t>(1 << 20, properties.l2CacheSize);
        m_programmatic = properties.major >= 9;
        m_flush = std::make_unique<Flush>(m_l2Bytes, properties.multiProcessorCount);
    }

    DeviceLimits limits() override {
        DeviceLimits limits;
        limits.copyBytesPerSecond = copyRate();
        limits.launchFloorUs = floorUs(false);
        if (m_programmatic) limits.programmaticFloorUs = floorUs(true);
        return limits;
    }

    Result<std::unique_ptr<PreparedCalls>> prepare(const Operator& op, const Variant& variant, const Operands& example, CacheMode mode) override {
        auto calls = std::make_unique<CudaCalls>(op, variant, mode, *m_flush);
        if (const Result<void> ready = calls->prepare(example, m_l2Bytes); !ready) return ready.error();
        return std::unique_ptr<PreparedCalls>(std::move(calls));
    }

    /// Once more than before each sample: lines that a kernel asked L2 to keep fade only over a few flushes.
    void beginRound() override { (*m_flush)(); }

    std::vector<double> callUs(const Operator& op, const Variant& variant, const Operands& example, CacheMode, std::int64_t count) override {
        constexpr std::int64_t kWarmup = 20;
        Operands operands = ownBuffers(op, variant, example);
        EventPair events;
        std::vector<double> samples;
        for (std::int64_t call = -kWarmup; call < count; ++call) {
            events.begin();
            if (!variant.ownOutputs && !op.inPlace()) {
                for (at::Tensor& output : operands.outputs) output = at::empty(output.sizes(), output.options());
            }
            Result<Tensors> results = callVariant(variant, operands);
            events.end();
            TORCH_CHECK(results.ok(), results.ok() ? "" : results.error().message);
            const double us = events.us();
            if (call >= 0) samples.push_back(us);
        }
        return samples;
    }

private:
    double copyRate() {
        const std::int64_t bytes = std::max<std::int64_t>(256 << 20, 8 * m_l2Bytes);
        const auto options = at::TensorOptions().dtype(at::kByte).device(at::kCUDA);
        const at::Tensor from = at::ones({bytes}, options);
        at::Tensor to = at::empty({bytes}, options);
        EventPair events;
        double best = 0;
        for (int repeat = 0; repeat < kCopyRepeats; ++repeat) {
            events.begin();
            check(cudaMemcpyAsync(to.data_ptr(), from.const_data_ptr(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream()));
            events.end();
            best = std::max(best, 2e6 * static_cast<double>(bytes) / events.us());
        }
        return best;
    }

    double floorUs(bool programmatic) {
        ReplayableGraph graph;
        const Result<void> captured = graph.capture([&]() -> Result<void> {
            for (std::int64_t call = 0; call < kFloorCalls; ++call) check(cuda::launchEmpty(stream(), programmatic));
            return {};
        });
        if (!captured) return 0;
        EventPair events;
        std::vector<double> samples;
        for (int replay = 0; replay < kFloorReplays; ++replay) {
            check(cuda::spin(stream(), kHoldUs));
            events.begin();
            graph.launch();
            events.end();
            samples.push_back(events.us() / static_cast<double>(kFloorCalls));
        }
        return median(samples);
    }

    std::int64_t m_l2Bytes = 0;
    bool m_programmatic = false;
    std::unique_ptr<Flush> m_flush;
};

}  // namespace

std::unique_ptr<Meter> makeCudaMeter(const Device& device) { return std::make_unique<CudaMeter>(device); }

}  // namespace kernelscope
