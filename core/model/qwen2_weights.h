#pragma once
// Private to Qwen2Model: its weights in the form a pass wants them, and what else is worked out once.

#include <vector>

#include <ATen/ATen.h>

#include "core/model/qwen2.h"

namespace kernelscope {

/// y = x W^T (+ b) on [rows, in]. The transposed view is made once: a step makes seven of these a layer.
struct Linear {
    at::Tensor weight;  ///< [in, out], a view of the checkpoint's [out, in]
    at::Tensor bias;    ///< [out] or undefined

    at::Tensor operator()(const at::Tensor& x) const {
        return bias.defined() ? at::addmm(bias, x, weight) : at::mm(x, weight);
    }
};

struct DecoderLayer {
    at::Tensor inputNorm, postAttentionNorm;
    Linear q, k, v, o, gate, up, down;
    /// The same memory once more: q, k and v as one projection, gate and up as another. A step in a graph costs what its
    /// launches cost, and reads x once for all.
    Linear qkv, gateUp;
};

/// Places in Qwen2Model::modules().
struct LayerModules {
    std::size_t layer, inputNorm, attention, q, k, v, o, residualAttention, postAttentionNorm, mlp, gate, up, down, residualMlp;
};
struct RootModules {
    std::size_t root, embedding, rotary, finalNorm, lmHead;
    std::vector<LayerModules> layers;
};

/// How attention is computed, decided once for a device, type and head size.
enum class AttentionRoute {
    /// torch's flash kernel called directly: grouped heads and lower-right causal masks without expansion. Called through
    /// scaled_dot_product_attention, Hopper would get cuDNN, which builds a plan of 20 to 40 ms for every new length.
    flash,
    /// scaled_dot_product_attention, which picks what there is.
    general,
};

struct Qwen2Model::Weights {
    std::vector<std::pair<std::string, at::Tensor>> named;
    at::Tensor embedding;  ///< [vocab, hidden]
    at::Tensor finalNorm;
    Linear lmHead;
    std::vector<DecoderLayer> layers;

    RootModules modules;
    AttentionRoute route = AttentionRoute::general;
    at::Tensor inverseFrequencies;  ///< float32 [1, head_dim / 2]
    at::Tensor positions;           ///< float32 [context, 1]: 0, 1, 2, ...
    at::Tensor slots;               ///< int64 [context]: 0, 1, 2, ...
};

/// What the decoder layers of one pass share.
struct Qwen2Model::Pass {
    at::Tensor tokens;     ///< int64 [batch, n]
    KvCache* cache = nullptr;
    std::int64_t batch = 0, n = 0;
    std::int64_t past = 0;     ///< positions before this pass; unused when `slot` is set
    bool lastOnly = true;
    at::Tensor positions;      ///< float32 [n, 1]
    at::Tensor mask;           ///< bool, undefined where causality needs none
    at::Tensor slot;           ///< int64 [1], where position stands on the device, else undefined
    at::Tensor visible;        ///< int32 [batch]: cache positions to attend to, with `slot` on the flash route
    at::Tensor cos, sin;       ///< [n, head_dim] in the model's type
};

/// The residual stream between layers. Where add and norm are one operator, the last addend waits here for the next norm.
struct Qwen2Model::Stream {
    at::Tensor x;        ///< [rows, hidden]
    at::Tensor pending;  ///< to be added to x, or undefined
};

}  // namespace kernelscope
