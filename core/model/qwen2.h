#pragma once
// The Qwen2 family in libtorch: prefill and single-token decode over a static KV cache, every module under hooks,
// every replaceable operator through the patch table.

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/model/checkpoint.h"
#include "core/model/config.h"
#include "core/model/hooks.h"
#include "core/ops/patch_table.h"
#include "core/records/result.h"

namespace kernelscope {

/// [layer] -> k, v of [batch, kv_heads, capacity, head_dim]. Allocated once; never grows.
class KvCache {
public:
    KvCache(const ModelConfig& config, std::int64_t batch, std::int64_t capacity, at::TensorOptions options);
    [[nodiscard]] std::int64_t capacity() const { return m_capacity; }
    [[nodiscard]] std::int64_t length() const { return m_length; }
    void setLength(std::int64_t length) { m_length = length; }  ///< truncate or rewind, for repeated passes at one position
    at::Tensor& keys(std::int64_t layer) { return m_keys[static_cast<std::size_t>(layer)]; }
    at::Tensor& values(std::int64_t layer) { return m_values[static_cast<std::size_t>(layer)]; }

private:
    std::int64_t m_capacity = 0;
    std::int64_t m_length = 0;
    std::vector<at::Tensor> m_keys, m_values;
};

struct LoadOptions {
    at::Device device{at::kCPU};
    at::ScalarType dtype = at::kFloat;
    std::int64_t seed = 0;  ///< for random weights
    std::function<void(double fraction)> progress;  ///< may be empty
    std::stop_token stop;   ///< loading ends with a cancelled error
};

class Qwen2Model {
public:
    /// Bytes that the weights need in `dtype`, tied embeddings once.
    static std::int64_t weightBytes(const ModelConfig& config, at::ScalarType dtype);

    /// Weights of a checkpoint, converted to the dtype tensor by tensor (peak on CPU at most 1.1 x the weights).
    static Result<std::unique_ptr<Qwen2Model>> load(const Checkpoint& checkpoint, const LoadOptions& options);
    /// Deterministic random weights: the same numbers for a seed on every device and thread count.
    static Result<std::unique_ptr<Qwen2Model>> random(const ModelConfig& config, const LoadOptions& options);

    /// One pass over `tokens` (int64 [batch, n], on the model's device) placed at the cache's length, which grows by n.
    /// Returns logits [batch, n, vocab], or of the last position only ([batch, 1, vocab]) when `lastOnly`.
    /// Precondition: cache.length() + n <= cache.capacity() (throws c10::Error otherwise). Runs without autograd.
    at::Tensor forward(const at::Tensor& tokens, KvCache& cache, bool lastOnly = true);

    [[nodiscard]] KvCache makeCache(std::int64_t batch, std::int64_t capacity) const;

    [[nodiscard]] const ModelConfig& config() const { return m_config; }
    [[nodiscard]] at::Device device() const { return m_device; }
    [[nodiscard]] at::ScalarType dtype() const { return m_dtype; }
    [[nodiscard]] const std::vector<ModuleInfo>& modules() const { return m_modules; }
    Hooks& hooks() { return m_hooks; }
    void setPatchTable(PatchTable table) { m_table = std::move(table); }

    /// Weights by Hugging Face name, in the order of expectedTensors(). For writing checkpoints and for tests.
    [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> namedTensors() const;

    ~Qwen2Model();
    Qwen2Model(const Qwen2Model&) = delete;

private:
    Qwen2Model(const ModelConfig& config, const LoadOptions& options);
    struct Weights;

    ModelConfig m_config;
    at::Device m_device;
    at::ScalarType m_dtype;
    std::vector<ModuleInfo> m_modules;
    Hooks m_hooks;
    PatchTable m_table;
    std::unique_ptr<Weights> m_weights;
};

}  // namespace kernelscope
