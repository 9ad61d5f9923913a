#include "core/model/qwen2.h"

#include "core/model/qwen2_weights.h"

namespace kernelscope {
namespace {

class TreeBuilder {
public:
    explicit TreeBuilder(std::vector<ModuleInfo>& modules) : m_modules(modules) {}

    std::size_t add(std::size_t parent, ModuleType type, std::string path, int layer = -1) {
        const ModuleInfo& above = m_modules[parent];
        ModuleInfo info;
        info.index = static_cast<int>(m_modules.size());
        info.parent = above.index;
        info.layer = layer;
        info.depth = above.depth + 1;
        info.type = type;
        info.typeRoot = type != ModuleType::none && above.type != type;
        info.path = std::move(path);
        m_modules.push_back(std::move(info));
        return m_modules.size() - 1;
    }

private:
    std::vector<ModuleInfo>& m_modules;
};

LayerModules addLayer(TreeBuilder& tree, std::size_t root, int n) {
    const std::string path = "model.layers." + std::to_string(n);
    LayerModules m{};
    m.layer = tree.add(root, ModuleType::none, path, n);
    m.inputNorm = tree.add(m.layer, ModuleType::rmsNorm, path + ".input_layernorm", n);
    m.attention = tree.add(m.layer, ModuleType::attention, path + ".self_attn", n);
    m.q = tree.add(m.attention, ModuleType::attention, path + ".self_attn.q_proj", n);
    m.k = tree.add(m.attention, ModuleType::attention, path + ".self_attn.k_proj", n);
    m.v = tree.add(m.attention, ModuleType::attention, path + ".self_attn.v_proj", n);
    m.o = tree.add(m.attention, ModuleType::attention, path + ".self_attn.o_proj", n);
    m.residualAttention = tree.add(m.layer, ModuleType::residual, path + ".residual_attention", n);
    m.postAttentionNorm = tree.add(m.layer, ModuleType::rmsNorm, path + ".post_attention_layernorm", n);
    m.mlp = tree.add(m.layer, ModuleType::mlp, path + ".mlp", n);
    m.gate = tree.add(m.mlp, ModuleType::mlp, path + ".mlp.gate_proj", n);
    m.up = tree.add(m.mlp, ModuleType::mlp, path + ".mlp.up_proj", n);
    m.down = tree.add(m.mlp, ModuleType::mlp, path + ".mlp.down_proj", n);
    m.residualMlp = tree.add(m.layer, ModuleType::residual, path + ".residual_mlp", n);
    return m;
}

RootModules buildTree(const ModelConfig& config, std::vector<ModuleInfo>& modules) {
    ModuleInfo top;
    top.path = "model_forward";
    modules.push_back(top);
    TreeBuilder tree(modules);
    RootModules m{};
    m.root = 0;
    m.embedding = tree.add(0, ModuleType::embedding, "model.embed_tokens");
    m.rotary = tree.add(0, ModuleType::rotary, "model.rotary_emb");
    for (std::int64_t i = 0; i < config.layers; ++i) m.layers.push_back(addLayer(tree, 0, static_cast<int>(i)));
    m.finalNorm = tree.add(0, ModuleType::rmsNorm, "model.norm");
    m.lmHead = tree.add(0, ModuleType::lmHead, "lm_head");
    return m;
}

}  // namespace

KvCache::KvCache(const ModelConfig& config, std::int64_t batch, std::int64_t capacity, at::TensorOptions options)
    : m_capacity(capacity) {
    const c10::InferenceMode inference;
    // Zeros, since a pass with its position on the device reads the whole capacity under a mask, and 0 x NaN is NaN.
    for (std::int64_t i = 0; i < config.layers; ++i) {
        m_both.push_back(at::zeros({batch, capacity, 2, config.kvHeads, config.headDim}, options));
        m_keys.push_back(m_both.back().select(2, 0).transpose(1, 2));
        m_values.push_back(m_both.back().select(2, 1).transpose(1, 2));
    }
    m_queryStarts = at::arange(batch + 1, options.dtype(at::kInt));
    m_keyStarts = m_queryStarts * capacity;
    m_groupStarts = m_queryStarts * (config.heads / config.kvHeads);
}

std::int64_t KvCache::bytes(const ModelConfig& config, std::int64_t batch, std::int64_t capacity, at::ScalarType dtype) {
    return 2 * config.layers * batch * capacity * config.kvHeads * config.headDim *
           static_cast<std::int64_t>(c10::elementSize(dtype));
}

Qwen2Model::Qwen2Model(const ModelConfig& config, const LoadOptions& options)
    : m_config(config), m_device(options.device), m_dtype(options.dtype), m_table(nativePatchTable()),
      m_weights(std::make_unique<Weights>()) {
    m_weights->modules = buildTree(m_config, m_modules);
}

Qwen2Model::~Qwen2Model() = default;

KvCache Qwen2Model::makeCache(std::int64_t batch, std::int64_t capacity) const {
    return {m_config, batch, capacity, at::TensorOptions().device(m_device).dtype(m_dtype)};
}

void Qwen2Model::setPatchTable(PatchTable table) {
    PatchTable native = nativePatchTable();
    if (!table.rmsNorm) table.rmsNorm = std::move(native.rmsNorm);
    if (!table.siluMul) table.siluMul = std::move(native.siluMul);
    if (!table.rope) table.rope = std::move(native.rope);
    m_table = std::move(table);
}

const std::vector<std::pair<std::string, at::Tensor>>& Qwen2Model::namedTensors() const { return m_weights->named; }

std::int64_t Qwen2Model::weightBytes(const ModelConfig& config, at::ScalarType dtype) {
    std::int64_t elements = 0;
    for (const ExpectedTensor& tensor : expectedTensors(config)) elements += c10::multiply_integers(tensor.shape);
    return elements * static_cast<std::int64_t>(c10::elementSize(dtype));
}

}  // namespace kernelscope
