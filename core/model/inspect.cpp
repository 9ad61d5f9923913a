#include "core/model/inspect.h"

#include <system_error>

#include "core/model/chat.h"
#include "core/model/checkpoint.h"
#include "core/model/files.h"
#include "core/model/hub_cache.h"
#include "core/model/tokenizer.h"

namespace kernelscope {
namespace {

using nlohmann::json;

json describeConfig(const ModelConfig& config) {
    return {
        {"name", config.name},
        {"architecture", "Qwen2ForCausalLM"},
        {"parameters", config.parameters()},
        {"dtype", config.dtype},
        {"layers", config.layers},
        {"hidden_size", config.hiddenSize},
        {"heads", config.heads},
        {"kv_heads", config.kvHeads},
        {"head_dim", config.headDim},
        {"intermediate_size", config.intermediateSize},
        {"vocab_size", config.vocabSize},
        {"tied", config.tiedEmbeddings},
        {"context", config.contextLength},
        {"rope_theta", config.ropeTheta},
        {"rms_norm_eps", config.rmsNormEps},
        {"eos_token_ids", config.eosTokenIds},
    };
}

json describePreset(const ModelConfig& config) {
    json document = describeConfig(config);
    const std::int64_t elementBytes = config.dtype == "float32" ? 4 : 2;
    json tensors = json::array();
    for (const ExpectedTensor& tensor : expectedTensors(config)) {
        std::int64_t bytes = elementBytes;
        for (const std::int64_t length : tensor.shape) bytes *= length;
        tensors.push_back({{"name", tensor.name}, {"dtype", config.dtype}, {"shape", tensor.shape}, {"bytes", bytes}});
    }
    document["weights"] = "random";
    document["bytes"] = config.parameters() * elementBytes;
    document["files"] = json::array();
    document["tensors"] = std::move(tensors);
    return document;
}

json describeCheckpoint(const Checkpoint& checkpoint) {
    json document = describeConfig(checkpoint.config());
    json files = json::array();
    for (const std::filesystem::path& path : checkpoint.files()) {
        std::error_code problem;
        const std::uintmax_t size = std::filesystem::file_size(path, problem);
        files.push_back({{"name", toUtf8(path.filename())}, {"bytes", problem ? json() : json(size)}});
    }
    json tensors = json::array();
    for (const auto& [name, tensor] : checkpoint.tensors()) {
        tensors.push_back({{"name", name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"bytes", tensor.bytes.size()}});
    }
    document["weights"] = "file";
    document["bytes"] = checkpoint.bytes();
    document["files"] = std::move(files);
    document["tensors"] = std::move(tensors);
    return document;
}

/// A tokenizer that cannot be used does not spoil the rest: its problem stands in its place.
json describeTokenizer(const ModelSource& source) {
    const Result<std::optional<std::filesystem::path>> folder = tokenizerFolder(source);
    if (folder && !*folder) return nullptr;
    const Result<Tokenizer> tokenizer = folder ? Tokenizer::load(**folder) : Result<Tokenizer>(folder.error());
    if (!tokenizer) return {{"problem", tokenizer.error().message}, {"advice", tokenizer.error().advice}};
    json files = json::array();
    for (const std::filesystem::path& file : tokenizer->files()) files.push_back(toUtf8(file.filename()));
    const Result<ChatTemplate> chat = ChatTemplate::load(**folder, *tokenizer);
    return {
        {"kind", "byte-level BPE"},
        {"bundled", source.preset != nullptr},
        {"tokens", tokenizer->tokenCount()},
        {"added_tokens", tokenizer->addedTokens().size()},
        {"files", files},
        {"chat_template", chat ? json("ChatML") : json()},
    };
}

}  // namespace

Result<json> inspectModel(const ModelSource& source) {
    json document;
    if (source.preset) {
        document = describePreset(source.preset->config);
    } else {
        const Result<Checkpoint> checkpoint = Checkpoint::open(source.folder);
        if (!checkpoint) return checkpoint.error();
        document = describeCheckpoint(*checkpoint);
    }
    document["tokenizer"] = describeTokenizer(source);
    return document;
}

json listModels() {
    json models = json::array();
    const auto add = [&](std::string_view model, const char* source, std::int64_t bytes, const std::string& folder, const std::string& problem) {
        models.push_back({{"model", model}, {"source", source}, {"bytes", bytes}, {"folder", folder}, {"problem", problem}});
    };
    for (const Preset& preset : presets()) add(preset.id, "preset", describePreset(preset.config).at("bytes").get<std::int64_t>(), {}, {});
    for (const CachedModel& model : listHubCache()) add(model.id, "hub cache", model.bytes, toUtf8(model.folder), model.problem);
    return {{"hub_cache", toUtf8(hubCacheFolder())}, {"models", models}};
}

}  // namespace kernelscope
