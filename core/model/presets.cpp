// Built-in shapes: those of the published Qwen2.5 Instruct models, and one small enough to try things on a CPU.
// Their weights are random, so dtype is what a CUDA device uses for them by default, not what a file holds.

#include "core/model/config.h"

#include <array>

namespace kernelscope {
namespace {

struct Shape {
    std::int64_t layers, hidden, intermediate, heads, kvHeads, vocab;
    bool tied;
};

ModelConfig published(std::string name, const Shape& shape) {
    ModelConfig config;
    config.name = std::move(name);
    config.layers = shape.layers;
    config.hiddenSize = shape.hidden;
    config.intermediateSize = shape.intermediate;
    config.heads = shape.heads;
    config.kvHeads = shape.kvHeads;
    config.headDim = shape.hidden / shape.heads;
    config.vocabSize = shape.vocab;
    config.contextLength = 32768;
    config.ropeTheta = 1e6;
    config.rmsNormEps = 1e-6;
    config.tiedEmbeddings = shape.tied;
    config.dtype = "float16";
    config.eosTokenIds = {151645, 151643};  // <|im_end|>, <|endoftext|>
    return config;
}

}  // namespace

std::span<const Preset> presets() {
    static const std::array<Preset, 8> list = {{
        {"qwen2.5-tiny", published("Qwen2.5-tiny", {2, 112, 160, 14, 2, 151936, true})},
        {"qwen2.5-0.5b", published("Qwen2.5-0.5B", {24, 896, 4864, 14, 2, 151936, true})},
        {"qwen2.5-1.5b", published("Qwen2.5-1.5B", {28, 1536, 8960, 12, 2, 151936, true})},
        {"qwen2.5-3b", published("Qwen2.5-3B", {36, 2048, 11008, 16, 2, 151936, true})},
        {"qwen2.5-7b", published("Qwen2.5-7B", {28, 3584, 18944, 28, 4, 152064, false})},
        {"qwen2.5-14b", published("Qwen2.5-14B", {48, 5120, 13824, 40, 8, 152064, false})},
        {"qwen2.5-32b", published("Qwen2.5-32B", {64, 5120, 27648, 40, 8, 152064, false})},
        {"qwen2.5-72b", published("Qwen2.5-72B", {80, 8192, 29568, 64, 8, 152064, false})},
    }};
    return list;
}

const Preset* findPreset(std::string_view id) {
    for (const Preset& preset : presets()) {
        if (preset.id == id) return &preset;
    }
    return nullptr;
}

}  // namespace kernelscope
