#pragma once
// The Qwen2 family in libtorch: prefill and single-token decode over a static KV cache, every module under hooks,
// every replaceable operator through the patch table.

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/model/checkpoint.h"
#include "core/model/config.h"
#include "core/model/hooks.h"
#include "core/ops/patch_table.h"
#include "core/records/result.h"

namespace kernelscope {

/// [layer] -> k, v of [batch, kv_heads, capacity, head_dim]. Allocated once (zeros); never grows. In memory a position's
/// heads lie together, keys before values, as the projections write them: use the strides.
class KvCache {
public:
    KvCache(const ModelConfig& config, std::int64_t batch, std::int64_t capacity, at::TensorOptions options);
    [[nodiscard]] std::int64_t capacity() const { return m_capacity; }
    [[nodiscard]] std::int64_t length() const { return m_length; }
    void setLength(std::int64_t length) { m_length = length; }  ///< truncate or rewind, for repeated passes at one position
    at::Tensor& keys(std::int64_t layer) { return m_keys[static_cast<std::size_t>(layer)]; }
    at::Tensor& values(std::int64_t layer) { return m_values[static_cast<std::size_t>(layer)]; }
    /// The memory behind both: [batch, capacity, 2, kv_heads, head_dim].
    at::Tensor& both(std::int64_t layer) { return m_both[static_cast<std::size_t>(layer)]; }

    /// int32 [batch + 1]: where each batch row's query (0, 1, 2, ...) and its keys (0, capacity, ...) start when rows are
    /// laid end to end, as variable-length attention kernels ask for.
    [[nodiscard]] const at::Tensor& queryStarts() const { return m_queryStarts; }
    [[nodiscard]] const at::Tensor& keyStarts() const { return m_keyStarts; }
    /// The same where the query heads that share a key head count as so many queries.
    [[nodiscard]] const at::Tensor& groupStarts() const { return m_groupStarts; }

    /// Bytes of a cache, for checks before loading.
    static std::int64_t bytes(const ModelConfig& config, std::int64_t batch, std::int64_t capacity, at::ScalarType dtype);

private:
    std::int64_t m_capacity = 0;
    std::int64_t m_length = 0;
    std::vector<at::Tensor> m_both, m_keys, m_values;
    at::Tensor m_queryStarts, m_keyStarts, m_groupStarts;
};

struct LoadOptions {
    at::Device device{at::kCPU};
    at::ScalarType dtype = at::kFloat;
    std::int64_t seed = 0;  ///< for random weights
    std::function<void(double fraction)> progress;  ///< may be empty
    std::stop_token stop;   ///< loading ends with a cancelled error
};

/// Thrown out of a pass, at a module's border, when the model's stop token says so. The cache is as it was before the pass.
struct PassCancelled : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "the pass was cancelled"; }
};

/// Weights and tensors that a pass makes are inference tensors: read them anywhere, write to them in place only under
/// c10::InferenceMode.
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

    /// One single-token pass whose position stands on the device, for stream capture: nothing that the host decides
    /// depends on it. `tokens` int64 [batch, 1]; `position` int64 [1]. Writes k and v there and attends to 0..position
    /// over the whole capacity; cache.length() is neither read nor changed. Returns logits [batch, 1, vocab].
    at::Tensor forwardAt(const at::Tensor& tokens, KvCache& cache, const at::Tensor& position);

    [[nodiscard]] KvCache makeCache(std::int64_t batch, std::int64_t capacity) const;

    [[nodiscard]] const ModelConfig& config() const { return m_config; }
    [[nodiscard]] at::Device device() const { return m_device; }
    [[nodiscard]] at::ScalarType dtype() const { return m_dtype; }
    [[nodiscard]] const std::vector<ModuleInfo>& modules() const { return m_modules; }
    Hooks& hooks() { return m_hooks; }
    /// Entries left empty (addRmsNorm aside) are native.
    void setPatchTable(PatchTable table);
    /// Passes end with PassCancelled once `stop` is requested: a long prefill on a CPU answers within a module's time.
    void setStop(std::stop_token stop) { m_stop = std::move(stop); }

    /// Weights by Hugging Face name, in the order of expectedTensors(). For writing checkpoints and for tests.
    [[nodiscard]] const std::vector<std::pair<std::string, at::Tensor>>& namedTensors() const;

    ~Qwen2Model();
    Qwen2Model(const Qwen2Model&) = delete;
    Qwen2Model& operator=(const Qwen2Model&) = delete;

private:
    struct Weights;
    struct Pass;
    struct Stream;
    /// Writes elements first.. of the expected tensor `index` into the flat CPU tensor `out`.
    using Fill = std::function<void(std::size_t index, std::int64_t first, const at::Tensor& out)>;

    Qwen2Model(const ModelConfig& config, const LoadOptions& options);
    static Result<std::unique_ptr<Qwen2Model>> build(const ModelConfig& config, const LoadOptions& options, std::int64_t stretch,
                                                     const Fill& fill);

    at::Tensor run(Pass& pass);
    void rotary(Pass& pass);
    void decoderLayer(std::size_t layer, const Pass& pass, Stream& stream);
    at::Tensor normed(std::size_t module, const at::Tensor& weight, Stream& stream);
    void addResidual(std::size_t module, at::Tensor addend, Stream& stream);
    at::Tensor attention(std::size_t layer, const Pass& pass, const at::Tensor& x);
    at::Tensor attend(std::size_t layer, const Pass& pass, const at::Tensor& q);
    at::Tensor mlp(std::size_t layer, const Pass& pass, const at::Tensor& x);

    ModelConfig m_config;
    at::Device m_device;
    at::ScalarType m_dtype;
    std::vector<ModuleInfo> m_modules;
    Hooks m_hooks;
    PatchTable m_table;
    std::stop_token m_stop;
    std::unique_ptr<Weights> m_weights;
};

}  // namespace kernelscope
