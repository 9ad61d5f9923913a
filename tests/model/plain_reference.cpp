#include "tests/model/plain_reference.h"

#include <cmath>
#include <map>
#include <string>

namespace kernelscope::test {
namespace {

using Weights = std::map<std::string, at::Tensor>;

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
    return x / ((x * x).mean(-1, true) + eps).sqrt() * weight;
}

at::Tensor project(const Weights& w, const std::string& name, const at::Tensor& x) {
    const at::Tensor y = at::matmul(x, w.at(name + ".weight").t());
    const auto bias = w.find(name + ".bias");
    return bias == w.end() ? y : y + bias->second;
}

// Rotates dimension i and i + d/2 of the head vector at `position` by position / theta^(2i/d).
void rotate(at::Tensor vector, std::int64_t position, double theta) {
    auto values = vector.accessor<double, 1>();
    const std::int64_t half = vector.size(0) / 2;
    for (std::int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position) * std::pow(theta, -static_cast<double>(i) / static_cast<double>(half));
        const double first = values[i], second = values[i + half];
        values[i] = first * std::cos(angle) - second * std::sin(angle);
        values[i + half] = second * std::cos(angle) + first * std::sin(angle);
    }
}

at::Tensor attention(const Weights& w, const std::string& path, const ModelConfig& config, const at::Tensor& x) {
    const std::int64_t n = x.size(0), d = config.headDim, group = config.heads / config.kvHeads;
    at::Tensor q = project(w, path + ".q_proj", x).view({n, config.heads, d}).contiguous();
    at::Tensor k = project(w, path + ".k_proj", x).view({n, config.kvHeads, d}).contiguous();
    const at::Tensor v = project(w, path + ".v_proj", x).view({n, config.kvHeads, d});
    for (std::int64_t t = 0; t < n; ++t) {
        for (std::int64_t h = 0; h < config.heads; ++h) rotate(q[t][h], t, config.ropeTheta);
        for (std::int64_t h = 0; h < config.kvHeads; ++h) rotate(k[t][h], t, config.ropeTheta);
    }
    at::Tensor out = at::empty({n, config.heads, d}, at::kDouble);
    for (std::int64_t t = 0; t < n; ++t) {
        for (std::int64_t h = 0; h < config.heads; ++h) {
            const at::Tensor keys = k.narrow(0, 0, t + 1).select(1, h / group);
            const at::Tensor weights = at::softmax(at::mv(keys, q[t][h]) / std::sqrt(static_cast<double>(d)), 0);
            out[t][h].copy_(at::mv(v.narrow(0, 0, t + 1).select(1, h / group).t(), weights));
        }
    }
    return project(w, path + ".o_proj", out.view({n, config.heads * d}));
}

}  // namespace

at::Tensor plainLogits(const Qwen2Model& model, const std::vector<std::int64_t>& tokens) {
    const ModelConfig& config = model.config();
    Weights w;
    for (const auto& [name, tensor] : model.namedTensors()) w[name] = tensor.to(at::kCPU, at::kDouble).clone();

    at::Tensor x = at::embedding(w.at("model.embed_tokens.weight"), at::tensor(tokens, at::kLong));
    for (std::int64_t i = 0; i < config.layers; ++i) {
        const std::string path = "model.layers." + std::to_string(i);
        x = x + attention(w, path + ".self_attn", config, norm(x, w.at(path + ".input_layernorm.weight"), config.rmsNormEps));
        const at::Tensor y = norm(x, w.at(path + ".post_attention_layernorm.weight"), config.rmsNormEps);
        const at::Tensor gate = project(w, path + ".mlp.gate_proj", y);
        x = x + project(w, path + ".mlp.down_proj", gate / (1 + (-gate).exp()) * project(w, path + ".mlp.up_proj", y));
    }
    x = norm(x, w.at("model.norm.weight"), config.rmsNormEps);
    return at::matmul(x, w.at(config.tiedEmbeddings ? "model.embed_tokens.weight" : "lm_head.weight").t());
}

}  // namespace kernelscope::test
