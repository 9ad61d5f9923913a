#include "core/model/graph_decode.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace kernelscope {
namespace {

// Libraries make their handles and workspaces in the first passes; none may do so while a stream is captured.
constexpr int kWarmUpPasses = 2;

class GraphStep final : public DecodeStep {
public:
    GraphStep(Generator& generator, std::int64_t usableVocab) : m_generator(generator), m_picker({}, usableVocab) {
        const c10::InferenceMode inference;
        m_position = at::zeros({1}, at::TensorOptions().dtype(at::kLong).device(generator.model().device()));
    }

    void capture() {
        const c10::InferenceMode inference;
        const at::Device device = m_generator.model().device();
        const c10::cuda::CUDAGuard onDevice(device);
        c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
        const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
        const c10::cuda::CUDAStreamGuard onStream(stream);  // the default stream cannot be captured
        for (int i = 0; i < kWarmUpPasses; ++i) {
            m_position.zero_();  // these passes write position 0, which every text writes anew
            step();
        }
        stream.synchronize();
        m_graph.capture_begin();
        try {
            step();
        } catch (...) {
            endBrokenCapture();
            throw;
        }
        m_graph.capture_end();
        stream.synchronize();
    }

    void begin(const KvCache& cache) override { m_position.fill_(cache.length()); }

    at::Tensor run(KvCache& cache) override {
        TORCH_CHECK(cache.length() < cache.capacity(), "the KV cache is full at ", cache.length(), " positions");
        m_graph.replay();
        cache.setLength(cache.length() + 1);
        return m_logits;
    }

    [[nodiscard]] bool picks() const override { return true; }

private:
    void step() {
        m_logits = m_generator.model().forwardAt(m_generator.tokens(), m_generator.cache(), m_position).select(1, 0);
        m_picker.pick(m_logits, 0, m_generator.tokens());
        m_position.add_(1);
    }

    // The stream must leave capture mode, or everything after fails too. The error that matters is the first one.
    void endBrokenCapture() noexcept {
        try {
            m_graph.capture_end();
        } catch (const std::exception&) {
        }
        m_logits.reset();
    }

    Generator& m_generator;
    TokenPicker m_picker;
    at::cuda::CUDAGraph m_graph;  // owns the memory of m_logits, so it goes last
    at::Tensor m_position;        // int64 [1]: where the next token stands
    at::Tensor m_logits;
};

}  // namespace

Result<std::unique_ptr<DecodeStep>> captureDecodeStep(Generator& generator, std::int64_t usableVocab) try {
    if (!generator.model().device().is_cuda()) {
        return makeError(ErrorCode::environment, "graph mode needs a CUDA device, and this model is on the CPU", "use --mode eager or --device cuda");
    }
    const std::int64_t vocab = generator.model().config().vocabSize;
    auto step = std::make_unique<GraphStep>(generator, usableVocab > 0 ? std::min(usableVocab, vocab) : vocab);
    step->capture();
    return std::unique_ptr<DecodeStep>(std::move(step));
} catch (const c10::Error& error) {
    return makeError(ErrorCode::environment, std::string("the decode step cannot be captured as a CUDA graph: ") + error.what_without_backtrace(),
                     "use --mode eager");
} catch (const std::exception& error) {
    return makeError(ErrorCode::environment, std::string("the decode step cannot be captured as a CUDA graph: ") + error.what(), "use --mode eager");
}

}  // namespace kernelscope
