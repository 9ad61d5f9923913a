#pragma once
// config.json of a Qwen2-family checkpoint, and the built-in presets.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct ModelConfig {
    std::string name;            ///< for people: "Qwen2.5-0.5B", or the folder's name
    std::int64_t layers = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t intermediateSize = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;    ///< hiddenSize / heads unless the file says otherwise
    std::int64_t vocabSize = 0;
    std::int64_t contextLength = 32768;
    double ropeTheta = 1e6;
    double rmsNormEps = 1e-6;
    bool tiedEmbeddings = false;
    std::string dtype;           ///< float16, bfloat16, float32, or empty when the file does not say
    std::vector<std::int64_t> eosTokenIds;

    [[nodiscard]] std::int64_t parameters() const;
};

/// Reads config.json text. Older keys (rope_theta, torch_dtype) and newer (rope_parameters, dtype); unknown and null
/// keys are tolerated; contradictory, missing or impossible ones are badInput and name the key. Arithmetic that is not
/// implemented (another hidden_act, rope scaling, quantisation, sliding window in use, another architecture) is badInput too.
Result<ModelConfig> parseConfig(std::string_view json, std::string name);

/// Built-in shapes with random weights: qwen2.5-tiny and qwen2.5-0.5b to 72b.
struct Preset {
    std::string_view id;   ///< "qwen2.5-0.5b"
    ModelConfig config;
};
std::span<const Preset> presets();
const Preset* findPreset(std::string_view id);

/// Where a `--model` argument leads.
struct ModelSource {
    std::string argument;
    const Preset* preset = nullptr;      ///< random weights
    std::filesystem::path folder;        ///< else a checkpoint folder
};

/// Preset, else folder, else hub id in the local hub cache (HF_HUB_CACHE, HF_HOME, ~/.cache/huggingface/hub).
/// Errors: badInput, with the nearest preset's name and how to get a model.
Result<ModelSource> resolveModel(const std::string& argument);

}  // namespace kernelscope
