#include "core/model/config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/model/config_reader.h"
#include "core/model/json_text.h"

namespace kernelscope {
namespace {

using nlohmann::json;

// Far above every published model, and low enough that no product below overflows: the widest, the attention of all
// layers, stays under layers x hidden x 4 x heads x head_dim = 2^12 x 2^20 x 2^2 x 2^24 = 2^58.
constexpr std::int64_t kMostLayers = std::int64_t{1} << 12;
constexpr std::int64_t kMostHidden = std::int64_t{1} << 20;
constexpr std::int64_t kMostIntermediate = std::int64_t{1} << 22;
constexpr std::int64_t kMostHeads = std::int64_t{1} << 12;
constexpr std::int64_t kMostHeadDim = std::int64_t{1} << 12;
constexpr std::int64_t kMostVocabulary = std::int64_t{1} << 24;
constexpr std::int64_t kMostContext = std::int64_t{1} << 30;
// 2^43 parameters are 16 TiB in 16 bits; a config beyond that is a mistake, whatever its single values are.
constexpr std::int64_t kMostParameters = std::int64_t{1} << 43;

constexpr const char* kOtherModel =
    "Kernelscope runs the Qwen2 and Qwen2.5 families in their plain form; choose such a checkpoint, or a preset such as qwen2.5-0.5b.";
constexpr const char* kTwoAnswers = "Two readers would take two different values; keep the right one and delete the other.";

void checkArchitecture(ConfigReader& reader) {
    const std::optional<std::string> type = reader.text("model_type");
    if (type && *type != "qwen2") {
        reader.refuse("model_type", fmt::format("is {}, not qwen2", shown(*type)), kOtherModel);
    }
    const json* architectures = reader.value("architectures");
    if (architectures) {
        const bool texts = architectures->is_array() &&
                           std::all_of(architectures->begin(), architectures->end(), [](const json& name) { return name.is_string(); });
        if (!texts) {
            reader.refuse("architectures", fmt::format("should be a list of names, but is {}", shown(*architectures)), kOtherModel);
        } else if (!architectures->empty() && std::find(architectures->begin(), architectures->end(), "Qwen2ForCausalLM") == architectures->end()) {
            reader.refuse("architectures", fmt::format("is {}, without Qwen2ForCausalLM", shown(*architectures)), kOtherModel);
        }
    }
    if (!type && (!architectures || architectures->empty())) {
        reader.refuse("model_type", "is missing, and architectures as well, so nothing says what model this is", kOtherModel);
    }
}

/// Whatever changes the arithmetic in a way we do not have is refused: running it anyway would give wrong numbers quietly.
void checkArithmetic(ConfigReader& reader, std::int64_t layers) {
    const std::optional<std::string> activation = reader.text("hidden_act");
    if (activation && *activation != "silu") {
        reader.refuse("hidden_act", fmt::format("is {}; only silu is implemented", shown(*activation)), kOtherModel);
    }
    for (const char* key : {"quantization_config", "quantization", "compression_config"}) {
        if (reader.value(key)) {
            reader.refuse(key, "says that the weights are quantised, which is not implemented",
                          "Choose the float16 or bfloat16 form of the model.");
        }
    }
    if (reader.boolean("use_sliding_window").value_or(false)) {
        reader.refuse("use_sliding_window", "is true; attention over a sliding window is not implemented", kOtherModel);
    }
    if (const json* kinds = reader.value("layer_types")) {
        if (!kinds->is_array()) {
            reader.refuse("layer_types", fmt::format("should be a list, but is {}", shown(*kinds)), kOtherModel);
            return;
        }
        for (const json& kind : *kinds) {
            if (kind != "full_attention") {
                reader.refuse("layer_types", fmt::format("holds {}; only full_attention is implemented", shown(kind)), kOtherModel);
            }
        }
        if (layers > 0 && static_cast<std::int64_t>(kinds->size()) != layers) {
            reader.refuse("layer_types", fmt::format("has {} entries, but num_hidden_layers is {}", kinds->size(), layers), kTwoAnswers);
        }
    }
}

/// rope_scaling (older) and rope_parameters (newer) in one: returns the theta written inside, if any.
std::optional<double> checkRope(ConfigReader& reader, const char* key) {
    const json* rope = reader.value(key);
    if (!rope) return std::nullopt;
    if (!rope->is_object()) {
        reader.refuse(key, fmt::format("should be an object, but is {}", shown(*rope)), kOtherModel);
        return std::nullopt;
    }
    const std::string prefix = std::string(key) + ".";
    ConfigReader inside(*rope, prefix);
    for (const char* kind : {"rope_type", "type"}) {
        const std::optional<std::string> type = inside.text(kind);
        if (type && *type != "default") {
            inside.refuse(kind, fmt::format("is {}; rotary scaling is not implemented", shown(*type)),
                          "Remove the scaling (the model then keeps its original context length), or choose another checkpoint.");
        }
    }
    for (const auto& [name, value] : rope->items()) {
        if (value.is_object()) inside.refuse(name, "sets rotary values for one kind of layer, which is not implemented", kOtherModel);
    }
    const std::optional<double> theta = inside.number("rope_theta");
    const std::optional<double> part = inside.number("partial_rotary_factor");
    if (part && *part != 1.0) inside.refuse("partial_rotary_factor", fmt::format("is {}; only 1 is implemented", *part), kOtherModel);
    // A factor without a type says that something is scaled, but not how.
    const std::optional<double> factor = inside.number("factor");
    if (factor && *factor != 1.0 && !inside.value("rope_type") && !inside.value("type")) {
        inside.refuse("factor", fmt::format("is {}; rotary scaling is not implemented", *factor), kOtherModel);
    }
    reader.adopt(inside);
    return theta;
}

void readRope(ConfigReader& reader, ModelConfig& config) {
    std::optional<std::pair<std::string, double>> chosen;
    const auto consider = [&](const std::string& key, std::optional<double> theta) {
        if (!theta) return;
        if (chosen && chosen->second != *theta) {
            reader.refuse(key, fmt::format("is {}, but {} is {}", *theta, chosen->first, chosen->second), kTwoAnswers);
        }
        if (!chosen) chosen.emplace(key, *theta);
    };
    consider("rope_theta", reader.number("rope_theta"));
    consider("rope_parameters.rope_theta", checkRope(reader, "rope_parameters"));
    consider("rope_scaling.rope_theta", checkRope(reader, "rope_scaling"));
    if (const std::optional<double> part = reader.number("partial_rotary_factor"); part && *part != 1.0) {
        reader.refuse("partial_rotary_factor", fmt::format("is {}; only 1 is implemented", *part), kOtherModel);
    }
    if (!chosen) {
        reader.refuse("rope_theta", "is missing, and rope_parameters.rope_theta as well",
                      "Add the value that the model was trained with (1000000 for Qwen2.5).");
        return;
    }
    if (!std::isfinite(chosen->second) || chosen->second <= 0) {
        reader.refuse(chosen->first, fmt::format("is {}, but must be above zero", chosen->second), kOtherModel);
    }
    config.ropeTheta = chosen->second;
}

void readDtype(ConfigReader& reader, ModelConfig& config) {
    std::optional<std::string> found;
    for (const char* key : {"dtype", "torch_dtype"}) {
        std::optional<std::string> name = reader.text(key);
        if (!name) continue;
        if (name->rfind("torch.", 0) == 0) name->erase(0, 6);
        if (*name != "float16" && *name != "bfloat16" && *name != "float32") {
            reader.refuse(key, fmt::format("is {}; weights are read as float16, bfloat16 or float32", shown(*name)),
                          "Convert the checkpoint to one of them.");
        }
        if (found && *found != *name) reader.refuse(key, fmt::format("is {}, but dtype is {}", *name, *found), kTwoAnswers);
        found = std::move(name);
    }
    config.dtype = found.value_or("");
}

void readHeads(ConfigReader& reader, ModelConfig& config) {
    config.heads = reader.requiredInteger("num_attention_heads", 1, kMostHeads);
    config.kvHeads = reader.integer("num_key_value_heads", 1, kMostHeads).value_or(config.heads);
    const std::optional<std::int64_t> headDim = reader.integer("head_dim", 1, kMostHeadDim);
    if (reader.error()) return;
    if (config.heads % config.kvHeads != 0) {
        reader.refuse("num_key_value_heads", fmt::format("is {}, which does not divide num_attention_heads, {}", config.kvHeads, config.heads),
                      "Each key/value head serves the same number of query heads; correct one of the two.");
    }
    if (!headDim && config.hiddenSize % config.heads != 0) {
        reader.refuse("num_attention_heads", fmt::format("is {}, which does not divide hidden_size, {}", config.heads, config.hiddenSize),
                      "Correct one of the two, or state head_dim.");
    }
    config.headDim = headDim.value_or(config.hiddenSize / config.heads);
    if (config.headDim % 2 != 0 || config.headDim < 2) {
        reader.refuse(headDim ? "head_dim" : "num_attention_heads",
                      fmt::format("gives heads of {} values; rotary embedding turns pairs, so the number must be even", config.headDim), kOtherModel);
    }
}

void readEndTokens(ConfigReader& reader, ModelConfig& config) {
    const json* found = reader.value("eos_token_id");
    if (!found) return;
    const json list = found->is_array() ? *found : json::array({*found});
    for (const json& id : list) {
        const json holder = {{"eos_token_id", id}};
        ConfigReader one(holder);
        const std::optional<std::int64_t> value = one.integer("eos_token_id", 0, std::max<std::int64_t>(config.vocabSize - 1, 0));
        if (!value) {
            reader.refuse("eos_token_id", fmt::format("holds {}, which is no token id below vocab_size, {}", shown(id), config.vocabSize),
                          "Correct it, or set it to null to generate without an end token.");
            return;
        }
        if (std::find(config.eosTokenIds.begin(), config.eosTokenIds.end(), *value) == config.eosTokenIds.end()) {
            config.eosTokenIds.push_back(*value);
        }
    }
}

}  // namespace

std::int64_t ModelConfig::parameters() const {
    const std::int64_t queries = heads * headDim;
    const std::int64_t keys = kvHeads * headDim;
    const std::int64_t attention = (hiddenSize + 1) * (queries + 2 * keys) + queries * hiddenSize;  // + 1: q, k, v have biases
    const std::int64_t layer = attention + 3 * hiddenSize * intermediateSize + 2 * hiddenSize;
    return layers * layer + hiddenSize + (tiedEmbeddings ? 1 : 2) * vocabSize * hiddenSize;
}

Result<ModelConfig> parseConfig(std::string_view text, std::string name) {
    const Result<json> document = parseJsonObject(text, "config.json");
    if (!document) return document.error();

    ModelConfig config;
    config.name = std::move(name);
    ConfigReader reader(*document);
    checkArchitecture(reader);
    config.layers = reader.requiredInteger("num_hidden_layers", 1, kMostLayers);
    checkArithmetic(reader, config.layers);
    config.hiddenSize = reader.requiredInteger("hidden_size", 1, kMostHidden);
    config.intermediateSize = reader.requiredInteger("intermediate_size", 1, kMostIntermediate);
    config.vocabSize = reader.requiredInteger("vocab_size", 1, kMostVocabulary);
    readHeads(reader, config);
    config.contextLength = reader.integer("max_position_embeddings", 1, kMostContext).value_or(32768);
    readRope(reader, config);
    if (const std::optional<double> eps = reader.number("rms_norm_eps")) {
        if (!(*eps > 0 && *eps < 1)) reader.refuse("rms_norm_eps", fmt::format("is {}, but must lie between 0 and 1", *eps), "Qwen2.5 uses 1e-06.");
        config.rmsNormEps = *eps;
    }
    config.tiedEmbeddings = reader.boolean("tie_word_embeddings").value_or(false);
    readDtype(reader, config);
    readEndTokens(reader, config);
    if (!reader.error() && config.parameters() > kMostParameters) {
        reader.refuse("hidden_size", fmt::format("and the other sizes together call for {} parameters, which no machine holds", config.parameters()),
                      "One of the sizes is wrong; fetch the file again.");
    }
    if (reader.error()) return *reader.error();
    return config;
}

}  // namespace kernelscope
