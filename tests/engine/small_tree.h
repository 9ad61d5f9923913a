#pragma once
// A module tree of one decoder layer, small enough to reckon by hand.

#include <vector>

#include "core/model/hooks.h"

namespace kernelscope::test {

enum SmallTree { kRoot, kEmbedding, kLayer, kNorm, kAttention, kProjection, kMlp, kHead };

inline std::vector<ModuleInfo> smallTree() {
    const auto module = [](int index, int parent, int layer, int depth, ModuleType type, bool typeRoot, const char* path) {
        return ModuleInfo{index, parent, layer, depth, type, typeRoot, path};
    };
    return {
        module(kRoot, -1, -1, 0, ModuleType::none, false, "model_forward"),
        module(kEmbedding, kRoot, -1, 1, ModuleType::embedding, true, "model.embed_tokens"),
        module(kLayer, kRoot, 0, 1, ModuleType::none, false, "model.layers.0"),
        module(kNorm, kLayer, 0, 2, ModuleType::rmsNorm, true, "model.layers.0.input_layernorm"),
        module(kAttention, kLayer, 0, 2, ModuleType::attention, true, "model.layers.0.self_attn"),
        module(kProjection, kAttention, 0, 3, ModuleType::attention, false, "model.layers.0.self_attn.q_proj"),
        module(kMlp, kLayer, 0, 2, ModuleType::mlp, true, "model.layers.0.mlp"),
        module(kHead, kRoot, -1, 1, ModuleType::lmHead, true, "lm_head"),
    };
}

}  // namespace kernelscope::test
