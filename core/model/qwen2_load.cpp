// Where weights come from: a checkpoint's files or a seed. Both fill one tensor after another, a stretch at a time, so
// that progress moves, a stop is heard at once, and no second copy of the weights is ever held.

#include <algorithm>
#include <map>
#include <optional>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "core/model/convert.h"
#include "core/model/qwen2.h"
#include "core/model/qwen2_weights.h"
#include "core/model/random_weights.h"

namespace kernelscope {
namespace {

// Elements done at a time. Made ones: enough for many threads, and some 50 ms on one. Read ones: so little that the
// mapped pages, which count as ours until they are given back, stay far below a tenth of any model that matters.
constexpr std::int64_t kMadeStretch = 16 << 20;
constexpr std::int64_t kReadStretch = 1 << 20;

using TensorMap = std::map<std::string, at::Tensor, std::less<>>;

Linear linear(const TensorMap& tensors, const std::string& name) {
    const auto bias = tensors.find(name + ".bias");
    return {tensors.at(name + ".weight").t(), bias == tensors.end() ? at::Tensor() : bias->second};
}

// Projections that read the same input lie one after another in memory, so that they can be computed as one.
struct Place {
    std::string group;       ///< name of the whole
    std::int64_t first = 0;  ///< row where this one begins
    std::int64_t rows = 0;   ///< of the whole
};

std::optional<Place> placeOf(const std::string& name, const ModelConfig& config) {
    struct Part { std::string_view part, group; std::int64_t first, rows; };
    const std::int64_t queries = config.heads * config.headDim, keys = config.kvHeads * config.headDim, width = config.intermediateSize;
    const Part parts[]{{".q_proj.", ".qkv_proj.", 0, queries + 2 * keys},
                       {".k_proj.", ".qkv_proj.", queries, queries + 2 * keys},
                       {".v_proj.", ".qkv_proj.", queries + keys, queries + 2 * keys},
                       {".gate_proj.", ".gate_up_proj.", 0, 2 * width},
                       {".up_proj.", ".gate_up_proj.", width, 2 * width}};
    for (const Part& part : parts) {
        const std::size_t at = name.find(part.part);
        if (at == std::string::npos) continue;
        return Place{name.substr(0, at) + std::string(part.group) + name.substr(at + part.part.size()), part.first, part.rows};
    }
    return std::nullopt;
}

/// Where a tensor of a group lies, the group made on first sight; undefined for tensors of their own.
at::Tensor homeOf(const ExpectedTensor& tensor, const ModelConfig& config, const at::TensorOptions& options, TensorMap& tensors) {
    const std::optional<Place> place = placeOf(tensor.name, config);
    if (!place) return {};
    const auto [group, isNew] = tensors.try_emplace(place->group);
    if (isNew) {
        std::vector<std::int64_t> shape = tensor.shape;
        shape[0] = place->rows;
        group->second = at::empty(shape, options);
    }
    return group->second.narrow(0, place->first, tensor.shape[0]);
}

DecoderLayer decoderLayerOf(const TensorMap& tensors, const std::string& path) {
    DecoderLayer layer;
    layer.inputNorm = tensors.at(path + ".input_layernorm.weight");
    layer.postAttentionNorm = tensors.at(path + ".post_attention_layernorm.weight");
    layer.q = linear(tensors, path + ".self_attn.q_proj");
    layer.k = linear(tensors, path + ".self_attn.k_proj");
    layer.v = linear(tensors, path + ".self_attn.v_proj");
    layer.o = linear(tensors, path + ".self_attn.o_proj");
    layer.gate = linear(tensors, path + ".mlp.gate_proj");
    layer.up = linear(tensors, path + ".mlp.up_proj");
    layer.down = linear(tensors, path + ".mlp.down_proj");
    layer.qkv = linear(tensors, path + ".self_attn.qkv_proj");
    layer.gateUp = linear(tensors, path + ".mlp.gate_up_proj");
    return layer;
}

// 1 / theta^(2i / head_dim) in float32 throughout, as the reference computes it: a 16-bit type here would move logits by
// up to 2 %.
at::Tensor inverseFrequencies(const ModelConfig& config) {
    const at::Tensor exponents = at::arange(0, config.headDim, 2, at::kLong).to(at::kFloat) / config.headDim;
    return (1.0 / at::pow(at::Scalar(config.ropeTheta), exponents)).unsqueeze(0);
}

AttentionRoute chooseRoute(const ModelConfig& config, const at::TensorOptions& options) {
    if (!options.device().is_cuda() || options.dtype() == at::kFloat || config.headDim % 8 != 0) return AttentionRoute::general;
    try {  // not on every GPU, and not in every build of torch: ask the kernel itself
        const at::Tensor q = at::zeros({1, config.heads, 1, config.headDim}, options);
        const at::Tensor k = at::zeros({1, config.kvHeads, 1, config.headDim}, options);
        (void)at::_scaled_dot_product_flash_attention(q, k, k);
        return AttentionRoute::flash;
    } catch (const c10::Error&) {
        return AttentionRoute::general;
    }
}

}  // namespace

Result<std::unique_ptr<Qwen2Model>> Qwen2Model::build(const ModelConfig& config, const LoadOptions& options,
                                                      std::int64_t stretch, const Fill& fill) try {
    const c10::InferenceMode inference;
    std::unique_ptr<Qwen2Model> model(new Qwen2Model(config, options));
    Weights& weights = *model->m_weights;
    const auto total = static_cast<double>(weightBytes(config, at::kByte));
    const auto onHost = at::TensorOptions().dtype(options.dtype);
    double done = 0;
    TensorMap tensors;

    const std::vector<ExpectedTensor> expected = expectedTensors(config);
    for (std::size_t index = 0; index < expected.size(); ++index) {
        const at::Tensor home = homeOf(expected[index], config, onHost.device(options.device), tensors);
        const at::Tensor host = home.defined() && options.device.is_cpu() ? home : at::empty(expected[index].shape, onHost);
        const at::Tensor flat = host.view({-1});
        for (std::int64_t first = 0; first < flat.numel(); first += stretch) {
            if (options.stop.stop_requested()) return makeError(ErrorCode::cancelled, "loading " + config.name + " was cancelled");
            const std::int64_t count = std::min(stretch, flat.numel() - first);
            fill(index, first, flat.narrow(0, first, count));
            done += static_cast<double>(count);
            if (options.progress) options.progress(done / total);
        }
        const at::Tensor tensor = options.device.is_cpu() ? host : home.defined() ? home.copy_(host) : host.to(options.device);
        weights.named.emplace_back(expected[index].name, tensor);
        tensors.emplace(expected[index].name, tensor);
    }

    weights.embedding = tensors.at("model.embed_tokens.weight");
    weights.finalNorm = tensors.at("model.norm.weight");
    weights.lmHead.weight = (config.tiedEmbeddings ? weights.embedding : tensors.at("lm_head.weight")).t();
    for (std::int64_t i = 0; i < config.layers; ++i) {
        weights.layers.push_back(decoderLayerOf(tensors, "model.layers." + std::to_string(i)));
    }
    weights.inverseFrequencies = inverseFrequencies(config).to(options.device);
    weights.slots = at::arange(config.contextLength, at::kLong).to(options.device);
    weights.positions = weights.slots.to(at::kFloat).unsqueeze(1);
    weights.route = chooseRoute(config, onHost.device(options.device));
    return model;
} catch (const c10::OutOfMemoryError& error) {
    return makeError(ErrorCode::environment, "not enough memory for the weights of " + config.name + ": " + error.what_without_backtrace(),
                     "use a smaller model, a 16-bit type, or another device");
} catch (const c10::Error& error) {
    return makeError(ErrorCode::environment, "loading " + config.name + " failed: " + error.what_without_backtrace(),
                     "check the device with `kernelscope-cli doctor`");
} catch (const std::exception& error) {
    return makeError(ErrorCode::environment, "loading " + config.name + " failed: " + error.what());
}

Result<std::unique_ptr<Qwen2Model>> Qwen2Model::load(const Checkpoint& checkpoint, const LoadOptions& options) {
    std::vector<const TensorInfo*> stored;
    for (const ExpectedTensor& expected : expectedTensors(checkpoint.config())) {
        const TensorInfo* info = checkpoint.find(expected.name);
        if (info == nullptr || info->shape != expected.shape || storedElementSize(info->dtype) == 0) {
            return makeError(ErrorCode::badInput, "tensor " + expected.name + " is missing, of another shape, or of a type that is not read");
        }
        stored.push_back(info);
    }
    return build(checkpoint.config(), options, kReadStretch, [&](std::size_t index, std::int64_t first, const at::Tensor& out) {
        const TensorInfo& info = *stored[index];
        const std::size_t size = storedElementSize(info.dtype);
        const auto bytes = info.bytes.subspan(static_cast<std::size_t>(first) * size, static_cast<std::size_t>(out.numel()) * size);
        convertStored(bytes, info.dtype, out);
        releaseMappedPages(bytes);
    });
}

Result<std::unique_ptr<Qwen2Model>> Qwen2Model::random(const ModelConfig& config, const LoadOptions& options) {
    std::vector<RandomDistribution> distributions;
    for (const ExpectedTensor& expected : expectedTensors(config)) distributions.push_back(distributionOf(expected.name));
    return build(config, options, kMadeStretch, [&](std::size_t index, std::int64_t first, const at::Tensor& out) {
        fillRandom(out, distributions[index], static_cast<std::uint64_t>(options.seed), index, static_cast<std::uint64_t>(first));
    });
}

}  // namespace kernelscope
