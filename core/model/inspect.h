#pragma once
// What a model folder or preset holds, as the `inspect` command and the window show it.

#include <nlohmann/json.hpp>

#include "core/model/config.h"
#include "core/records/result.h"

namespace kernelscope {

/// Keys: name, weights (random or file), architecture, parameters, bytes, dtype, layers, hidden_size, heads, kv_heads,
/// head_dim, intermediate_size, vocab_size, tied, context, rope_theta, rms_norm_eps, eos_token_ids, tokenizer (null, or
/// {kind, bundled, tokens, added_tokens, files, chat_template}, or {problem, advice} where it cannot be used), files [{name, bytes}],
/// tensors [{name, dtype, shape, bytes}]. A preset has no files; its bytes are those its weights take in dtype.
/// Errors: those of Checkpoint::open.
Result<nlohmann::json> inspectModel(const ModelSource& source);

/// What there is to choose from on this machine: {"hub_cache": folder, "models": [{"model", "source": "preset" or "hub cache", "bytes",
/// "folder", "problem"}]}, presets first.
nlohmann::json listModels();

}  // namespace kernelscope
