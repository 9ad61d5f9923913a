#pragma once
// Text to token ids and back, as the `tokenize` command and the window ask for it.

#include <nlohmann/json.hpp>

#include "core/model/config.h"
#include "core/records/result.h"

namespace kernelscope {

/// The configuration of a preset or of a folder's config.json, without looking at weights.
Result<ModelConfig> readModelConfig(const ModelSource& source);

/// `request` is {text: "...", chat: false}, text as it is or as a user's turn in the chat template, or {ids: [...]}.
/// The answer is {ids, tokens, text}: tokens are the ids' texts one by one; text is what was encoded, or what the ids
/// show (special tokens dropped).
/// Errors: usage: neither text nor ids, or an id outside the model's vocabulary; badInput: the model has no tokenizer,
/// or another chat template.
Result<nlohmann::json> tokenize(const ModelSource& source, const nlohmann::json& request);

}  // namespace kernelscope
