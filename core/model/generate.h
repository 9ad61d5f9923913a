#pragma once
// generate(): prefill, then one pass a token. Of each pass one number comes back to the host: the token.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/model/qwen2.h"
#include "core/model/token_picker.h"
#include "core/records/result.h"

namespace kernelscope {

enum class FinishReason { stop, length, cancelled };
std::string_view toString(FinishReason reason);

struct GeneratedToken {
    std::int64_t id = 0;
    std::int64_t position = 0;  ///< in the whole sequence: the first new token stands at promptIds.size()
    bool stop = false;          ///< it ended the text; it is the last of tokenIds all the same
    double elapsedMs = 0;       ///< since the call began
};

struct GenerateOptions {
    std::vector<std::int64_t> promptIds;
    std::int64_t newTokens = 50;
    bool ignoreEos = false;              ///< stop tokens are then ordinary ones: the length is forced
    std::vector<std::int64_t> stopIds;   ///< empty: the config's EOS ids
    std::int64_t usableVocab = 0;        ///< ids from here on are padding and never emitted; 0: the whole vocabulary
    Sampling sampling;
    bool captureLogits = false;          ///< costs a copy of a row a token: not for figures
    bool capturePromptLogits = false;    ///< the LM head then runs on every prompt position
    std::stop_token stop;
    std::function<void(const GeneratedToken&)> onToken;  ///< may be empty; called for row 0
};

/// Times in milliseconds of a steady clock. NaN where there is nothing to tell (no decode step, nothing generated).
struct GenerateResult {
    std::vector<std::int64_t> tokenIds;  ///< of row 0; all rows are alike, since they share prompt and draw
    FinishReason finish = FinishReason::length;
    double ttftMs = std::numeric_limits<double>::quiet_NaN();  ///< call to first token on the host
    double prefillTokensPerSecond = std::numeric_limits<double>::quiet_NaN();  ///< prompt tokens of all rows over ttft
    double decodeMsPerToken = std::numeric_limits<double>::quiet_NaN();        ///< median of stepMs
    double decodeTokensPerSecond = std::numeric_limits<double>::quiet_NaN();   ///< of all rows: batch x 1000 / decodeMsPerToken
    double totalMs = 0;
    double outsideForwardMs = 0;   ///< total less the forward passes: picking, copies, callbacks (a graph step holds its own picking)
    std::vector<double> stepMs;    ///< each decode step, token to token
    at::Tensor logits;             ///< float32 [generated, vocab] on the CPU, before sampling; undefined unless asked for
    at::Tensor promptLogits;       ///< float32 [prompt, vocab], likewise
};

/// How a decode step runs: eagerly, or as one captured graph.
class DecodeStep {
public:
    virtual ~DecodeStep() = default;
    /// Before the first step of a text: the cache holds the prompt.
    virtual void begin(const KvCache& cache) = 0;
    /// One pass for the generator's tokens at cache.length(), which grows by one. Returns logits [batch, vocab], good until
    /// the next call.
    virtual at::Tensor run(KvCache& cache) = 0;
    /// Whether run() leaves the greedy token of its logits in the generator's tokens.
    [[nodiscard]] virtual bool picks() const { return false; }
};

/// A model with a cache and a place for the token, allocated once for any number of texts.
class Generator {
public:
    /// Room for `capacity` positions in `batch` rows. Errors: environment, when memory is short.
    static Result<Generator> create(Qwen2Model& model, std::int64_t batch, std::int64_t capacity);

    /// The same prompt in every row. Errors: usage (token ids, lengths past the context or the capacity, sampling),
    /// environment (a device error). Cancelled is no error: what was generated stands.
    Result<GenerateResult> run(const GenerateOptions& options);

    /// Another way to run decode steps; null for eager ones.
    void setDecodeStep(std::unique_ptr<DecodeStep> step);

    [[nodiscard]] Qwen2Model& model() const { return *m_model; }
    KvCache& cache() { return m_cache; }
    at::Tensor& tokens() { return m_tokens; }  ///< int64 [batch, 1] on the device: what the next step reads

private:
    Generator(Qwen2Model& model, std::int64_t batch, std::int64_t capacity);

    Qwen2Model* m_model;
    std::int64_t m_batch;
    KvCache m_cache;
    at::Tensor m_tokens;
    std::unique_ptr<DecodeStep> m_step;
};

/// Checks options against a model's config. Errors: usage, naming the id or the length and the limit.
Result<void> checkOptions(const GenerateOptions& options, const ModelConfig& config);

/// One text with a generator of its own.
Result<GenerateResult> generate(Qwen2Model& model, const GenerateOptions& options);

}  // namespace kernelscope
