#pragma once
// The next token from logits, without a host round trip: the token stays on the device.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace kernelscope {

struct Sampling {
    double temperature = 0;  ///< 0: greedy
    double topP = 1;         ///< keep the likeliest tokens whose probabilities reach this sum
    std::int64_t seed = 0;
};

class TokenPicker {
public:
    /// Ids from `usableVocab` on are padding rows of the embedding and are never picked.
    TokenPicker(const Sampling& sampling, std::int64_t usableVocab) : m_sampling(sampling), m_usableVocab(usableVocab) {}

    [[nodiscard]] bool greedy() const { return m_sampling.temperature <= 0; }

    /// Picks the token number `index` of a text from `logits` [batch, vocab] into `tokens` int64 [batch, 1]. The draw
    /// depends on (seed, index) alone and is the same for all rows.
    void pick(const at::Tensor& logits, std::int64_t index, at::Tensor& tokens) const;

private:
    void sample(const at::Tensor& logits, std::int64_t index, at::Tensor& tokens) const;

    Sampling m_sampling;
    std::int64_t m_usableVocab;
};

/// Uniform in [0, 1) from a counter.
double uniformAt(std::uint64_t seed, std::uint64_t index);

}  // namespace kernelscope
