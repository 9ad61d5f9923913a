#pragma once
// The Qwen2 family written down once more, in float64, with nothing clever: no cache, no fused attention, one batch row.

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "core/model/qwen2.h"

namespace kernelscope::test {

/// Logits [n, vocab] in float64 on the CPU for `tokens` from position 0, from the model's own weights.
at::Tensor plainLogits(const Qwen2Model& model, const std::vector<std::int64_t>& tokens);

}  // namespace kernelscope::test
