// One pass. Activations are [rows, features] with rows = batch x tokens, so that every projection is one matrix product
// without reshaping. In eager mode a decode step costs what the host spends here: what can be made once is in Weights.

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "core/model/qwen2.h"
#include "core/model/qwen2_weights.h"

namespace kernelscope {

at::Tensor Qwen2Model::forward(const at::Tensor& tokens, KvCache& cache, bool lastOnly) {
    const c10::InferenceMode inference;
    Pass pass;
    pass.tokens = tokens;
    pass.cache = &cache;
    pass.batch = tokens.size(0);
    pass.n = tokens.size(1);
    pass.past = cache.length();
    pass.lastOnly = lastOnly;
    const std::int64_t length = pass.past + pass.n;
    TORCH_CHECK(pass.n > 0, "a forward pass needs at least one token");
    TORCH_CHECK(length <= cache.capacity(), "the KV cache holds ", cache.capacity(), " positions, this pass needs ", length);
    TORCH_CHECK(length <= m_config.contextLength, "the model's context is ", m_config.contextLength, " positions, this pass needs ",
                length);

    at::Tensor logits = m_hooks.call(m_modules[m_weights->modules.root], [&] {
        pass.positions = m_weights->positions.narrow(0, pass.past, pass.n);
        if (pass.past > 0 && pass.n > 1 && m_weights->route == AttentionRoute::general) {
            // is_causal aligns the mask to the upper left; tokens that follow a filled cache need the lower right.
            pass.mask = m_weights->slots.narrow(0, 0, length).unsqueeze(0) <=
                        m_weights->slots.narrow(0, pass.past, pass.n).unsqueeze(1);
        }
        return run(pass);
    });
    cache.setLength(length);
    return logits;
}

at::Tensor Qwen2Model::forwardAt(const at::Tensor& tokens, KvCache& cache, const at::Tensor& position) {
    const c10::InferenceMode inference;
    Pass pass;
    pass.tokens = tokens;
    pass.cache = &cache;
    pass.batch = tokens.size(0);
    pass.n = 1;
    TORCH_CHECK(tokens.size(1) == 1, "forwardAt takes one token a row");
    TORCH_CHECK(cache.capacity() <= m_config.contextLength, "the KV cache is longer than the model's context");

    return m_hooks.call(m_modules[m_weights->modules.root], [&] {
        pass.slot = position;
        pass.positions = position.to(at::kFloat).unsqueeze(1);
        if (m_weights->route == AttentionRoute::flash) {
            pass.visible = (position + 1).to(at::kInt).expand({pass.batch}).contiguous();
        } else {
            pass.mask = (m_weights->slots.narrow(0, 0, cache.capacity()) <= position).unsqueeze(0);
        }
        return run(pass);
    });
}

at::Tensor Qwen2Model::run(Pass& pass) {
    const RootModules& modules = m_weights->modules;
    Stream stream;
    stream.x = m_hooks.call(m_modules[modules.embedding], [&] { return at::embedding(m_weights->embedding, pass.tokens); })
                   .view({pass.batch * pass.n, m_config.hiddenSize});
    rotary(pass);
    for (std::size_t layer = 0; layer < m_weights->layers.size(); ++layer) decoderLayer(layer, pass, stream);

    at::Tensor x = normed(modules.finalNorm, m_weights->finalNorm, stream);
    return m_hooks.call(m_modules[modules.lmHead], [&] {
        std::int64_t kept = pass.n;
        if (pass.lastOnly && pass.n > 1) {
            kept = 1;
            x = x.view({pass.batch, pass.n, m_config.hiddenSize}).select(1, pass.n - 1);
        }
        return m_weights->lmHead(x).view({pass.batch, kept, m_config.vocabSize});
    });
}

void Qwen2Model::rotary(Pass& pass) {
    m_hooks.call(m_modules[m_weights->modules.rotary], [&] {
        const at::Tensor angles = pass.positions * m_weights->inverseFrequencies;
        const at::Tensor both = at::cat({angles, angles}, -1);
        pass.cos = both.cos().to(m_dtype);
        pass.sin = both.sin().to(m_dtype);
    });
}

void Qwen2Model::decoderLayer(std::size_t layer, const Pass& pass, Stream& stream) {
    const DecoderLayer& weights = m_weights->layers[layer];
    const LayerModules& modules = m_weights->modules.layers[layer];
    m_hooks.call(m_modules[modules.layer], [&] {
        if (m_stop.stop_requested()) throw PassCancelled();
        at::Tensor x = normed(modules.inputNorm, weights.inputNorm, stream);
        addResidual(modules.residualAttention, attention(layer, pass, x), stream);
        if (m_stop.stop_requested()) throw PassCancelled();
        x = normed(modules.postAttentionNorm, weights.postAttentionNorm, stream);
        addResidual(modules.residualMlp, mlp(layer, pass, x), stream);
    });
}

at::Tensor Qwen2Model::normed(std::size_t module, const at::Tensor& weight, Stream& stream) {
    return m_hooks.call(m_modules[module], [&] {
        if (!stream.pending.defined()) return m_table.rmsNorm(stream.x, weight, m_config.rmsNormEps);
        auto [normalised, sum] = m_table.addRmsNorm(stream.pending, stream.x, weight, m_config.rmsNormEps);
        stream.x = std::move(sum);
        stream.pending.reset();
        return std::move(normalised);
    });
}

void Qwen2Model::addResidual(std::size_t module, at::Tensor addend, Stream& stream) {
    if (m_table.addRmsNorm) {
        stream.pending = std::move(addend);
        return;
    }
    m_hooks.call(m_modules[module], [&] { stream.x = stream.x + addend; });
}

at::Tensor Qwen2Model::mlp(std::size_t layer, const Pass& pass, const at::Tensor& x) {
    const DecoderLayer& weights = m_weights->layers[layer];
    const LayerModules& modules = m_weights->modules.layers[layer];
    return m_hooks.call(m_modules[modules.mlp], [&] {
        at::Tensor both;  // of a step in a graph; the first of its modules then stands for the product
        if (pass.slot.defined()) both = m_hooks.call(m_modules[modules.gate], [&] { return weights.gateUp(x); });
        const std::int64_t width = m_config.intermediateSize;
        const at::Tensor gate = both.defined() ? both.narrow(1, 0, width) : m_hooks.call(m_modules[modules.gate], [&] { return weights.gate(x); });
        const at::Tensor up = m_hooks.call(m_modules[modules.up], [&] { return both.defined() ? both.narrow(1, width, width) : weights.up(x); });
        const at::Tensor inner = m_table.siluMul(gate, up);
        return m_hooks.call(m_modules[modules.down], [&] { return weights.down(inner); });
    });
}

}  // namespace kernelscope
