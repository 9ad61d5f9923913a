#pragma once
// From a request's words (model, device, type) to things: where the weights are, where they go, and whether they fit.

#include <memory>
#include <optional>

#include "core/device/device.h"
#include "core/engine/job.h"
#include "core/model/checkpoint.h"
#include "core/model/config.h"
#include "core/model/qwen2.h"
#include "core/records/protocol.h"

namespace kernelscope {

struct ModelSetup {
    ModelSource source;
    ModelConfig config;
    std::optional<Checkpoint> checkpoint;  ///< absent: random weights
    Device device;
    at::ScalarType dtype = at::kFloat;
    std::int64_t seed = 0;

    /// Tells loaded models apart: source, file times, device, type and seed.
    [[nodiscard]] std::string identity() const;
};

/// Keeps the model of the last job: running the next one on it costs no loading.
class ModelHolder {
public:
    /// The model of `setup`, loaded if it is not the one held. Progress goes to `context`.
    Result<std::shared_ptr<Qwen2Model>> get(ModelSetup& setup, JobContext& context);
    [[nodiscard]] bool holds(const ModelSetup& setup) const { return m_model && m_identity == setup.identity(); }
    void drop();

private:
    std::string m_identity;
    std::shared_ptr<Qwen2Model> m_model;
};

/// Resolves the request. Errors: badInput (no such model, torn files), environment (no such device), usage.
Result<ModelSetup> prepareModel(const JobRequest& request);

/// What a job asks of the memory beside the weights, a row of the batch.
struct PassMemory {
    std::int64_t batch = 1;
    std::int64_t cacheTokens = 1;
    std::int64_t tokens = 1;     ///< that the largest pass takes at once
    std::int64_t logitRows = 1;  ///< positions whose logits are there at once
};

/// Whether weights, cache, logits and the least of activations that is there at once fit. The error says needed and free in GiB.
Result<void> checkMemory(const ModelSetup& setup, ModelHolder& models, const PassMemory& pass);

/// JobStarted without settings.
JobStarted describe(const ModelSetup& setup);

/// Deterministic prompt ids for measurements: int64 [batch, tokens] on the device, below the tokenizer's vocabulary.
at::Tensor measurementPrompt(const Qwen2Model& model, std::int64_t batch, std::int64_t tokens, std::int64_t seed);

}  // namespace kernelscope
