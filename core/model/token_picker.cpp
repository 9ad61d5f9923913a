#include "core/model/token_picker.h"

#include <ATen/ATen.h>

#include "core/model/counter_hash.h"

namespace kernelscope {

double uniformAt(std::uint64_t seed, std::uint64_t index) {
    return static_cast<double>(counterHash(counterKey(seed, 0), index) >> 11) * 0x1p-53;
}

void TokenPicker::pick(const at::Tensor& logits, std::int64_t index, at::Tensor& tokens) const {
    const at::Tensor usable = logits.narrow(1, 0, m_usableVocab);
    if (greedy()) {
        at::argmax_out(tokens, usable, 1, /*keepdim=*/true);
    } else {
        sample(usable, index, tokens);
    }
}

// Inverts the cumulative distribution: the draw falls into the first token whose running sum exceeds it.
void TokenPicker::sample(const at::Tensor& logits, std::int64_t index, at::Tensor& tokens) const {
    at::Tensor probabilities = at::softmax(logits.to(at::kFloat) / m_sampling.temperature, 1).to(at::kDouble);
    at::Tensor order;
    if (m_sampling.topP < 1) std::tie(probabilities, order) = at::sort(probabilities, /*stable=*/true, /*dim=*/1, /*descending=*/true);

    at::Tensor running = probabilities.cumsum(1);
    at::Tensor total = running.narrow(1, running.size(1) - 1, 1);
    if (m_sampling.topP < 1) {
        // A token stays while the sum before it is below topP, so the likeliest always stays.
        const at::Tensor kept = (running - probabilities) < m_sampling.topP;
        total = (probabilities * kept).sum(1, /*keepdim=*/true);
    }
    const double draw = uniformAt(static_cast<std::uint64_t>(m_sampling.seed), static_cast<std::uint64_t>(index));
    const at::Tensor place = (running <= total * draw).sum(1, /*keepdim=*/true).clamp_max(running.size(1) - 1);
    tokens.copy_(order.defined() ? order.gather(1, place) : place);
}

}  // namespace kernelscope
