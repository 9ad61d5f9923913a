#include "core/model/checkpoint.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/config_reader.h"
#include "core/model/files.h"
#include "core/model/json_text.h"
#include "core/model/mapped_file.h"
#include "core/model/weight_files.h"

namespace kernelscope {
namespace fs = std::filesystem;

struct Checkpoint::Impl {
    ModelConfig config;
    std::map<std::string, TensorInfo, std::less<>> tensors;
    std::vector<fs::path> files;
    std::vector<MappedFile> mappings;  // the tensors' bytes lie in these
};

namespace {

/// The folder's name; for a snapshot of the hub cache the model's: ".../models--Qwen--Qwen2.5-0.5B/snapshots/<hash>".
std::string displayName(const fs::path& folder) {
    std::error_code problem;
    fs::path whole = fs::absolute(folder, problem).lexically_normal();
    if (!whole.has_filename()) whole = whole.parent_path();  // a slash at the end
    const std::string hub = toUtf8(whole.parent_path().parent_path().filename());
    constexpr std::string_view kPrefix = "models--";
    if (whole.parent_path().filename() == "snapshots" && hub.rfind(kPrefix, 0) == 0) {
        std::string id = hub.substr(kPrefix.size());
        if (const std::size_t separator = id.find("--"); separator != std::string::npos) id.replace(separator, 2, "/");
        return id;
    }
    return toUtf8(whole.filename());
}

/// generation_config.json, where there is one, has the last word on what ends a text: chat models end a turn with a
/// token that config.json does not list.
std::optional<Error> readGenerationConfig(const fs::path& folder, ModelConfig& config) {
    const fs::path path = folder / "generation_config.json";
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path, ignored))) return std::nullopt;
    const Result<std::string> text = readTextFile(path);
    if (!text) return text.error();
    const Result<nlohmann::json> document = parseJsonObject(*text, "generation_config.json");
    if (!document) return document.error();
    const auto found = document->find("eos_token_id");
    if (found == document->end() || found->is_null()) return std::nullopt;
    std::vector<std::int64_t> ids;
    for (const nlohmann::json& id : found->is_array() ? *found : nlohmann::json::array({*found})) {
        const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() < static_cast<std::uint64_t>(config.vocabSize);
        if (!fits) {
            return makeError(ErrorCode::badInput,
                             fmt::format("generation_config.json: eos_token_id holds {}, which is no token id below vocab_size, {}", shown(id), config.vocabSize),
                             "Correct it, or remove the key: config.json then says what ends a text.");
        }
        const auto value = id.get<std::int64_t>();
        if (std::find(ids.begin(), ids.end(), value) == ids.end()) ids.push_back(value);
    }
    config.eosTokenIds = std::move(ids);
    return std::nullopt;
}

std::string shapeText(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::optional<Error> checkExpected(const ModelConfig& config, const std::map<std::string, TensorInfo, std::less<>>& tensors) {
    const std::vector<ExpectedTensor> expected = expectedTensors(config);
    std::string missing;
    std::size_t missingCount = 0;
    for (const ExpectedTensor& wanted : expected) {
        const auto found = tensors.find(wanted.name);
        if (found == tensors.end()) {
            if (missingCount++ == 0) missing = wanted.name;
            continue;
        }
        const TensorInfo& tensor = found->second;
        if (tensor.shape != wanted.shape) {
            return makeError(ErrorCode::badInput,
                             fmt::format("tensor {}: config.json calls for shape {}, the file holds {}", wanted.name, shapeText(wanted.shape), shapeText(tensor.shape)),
                             "config.json and the weights do not belong together; fetch both from the same place.");
        }
        if (tensor.dtype != "float32" && tensor.dtype != "float16" && tensor.dtype != "bfloat16") {
            return makeError(ErrorCode::badInput,
                             fmt::format("tensor {}: expected float32, float16 or bfloat16, found {}", wanted.name, tensor.dtype),
                             "Convert the checkpoint to one of them; quantised weights are not implemented.");
        }
    }
    if (missingCount == 0) return std::nullopt;
    std::string advice = "Fetch the weights again; a shard may be missing.";
    if (missing == "lm_head.weight") advice = "If the model shares its embeddings with the LM head, set tie_word_embeddings to true in config.json.";
    if (missingCount == expected.size()) advice = "The names follow another scheme: this may be another kind of model, or one saved without its \"model.\" prefix.";
    return makeError(ErrorCode::badInput,
                     fmt::format("tensor {} is missing{}", missing, missingCount > 1 ? fmt::format(", and {} others as well", missingCount - 1) : ""), advice);
}

}  // namespace

std::vector<ExpectedTensor> expectedTensors(const ModelConfig& config) {
    const std::int64_t hidden = config.hiddenSize, width = config.intermediateSize;
    const std::int64_t queries = config.heads * config.headDim, keys = config.kvHeads * config.headDim;
    std::vector<ExpectedTensor> list;
    list.reserve(static_cast<std::size_t>(config.layers) * 12 + 3);
    list.push_back({"model.embed_tokens.weight", {config.vocabSize, hidden}});
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        const auto add = [&](const char* name, std::vector<std::int64_t> shape) { list.push_back({prefix + name, std::move(shape)}); };
        add("input_layernorm.weight", {hidden});
        add("self_attn.q_proj.weight", {queries, hidden});
        add("self_attn.q_proj.bias", {queries});
        add("self_attn.k_proj.weight", {keys, hidden});
        add("self_attn.k_proj.bias", {keys});
        add("self_attn.v_proj.weight", {keys, hidden});
        add("self_attn.v_proj.bias", {keys});
        add("self_attn.o_proj.weight", {hidden, queries});
        add("post_attention_layernorm.weight", {hidden});
        add("mlp.gate_proj.weight", {width, hidden});
        add("mlp.up_proj.weight", {width, hidden});
        add("mlp.down_proj.weight", {hidden, width});
    }
    list.push_back({"model.norm.weight", {hidden}});
    if (!config.tiedEmbeddings) list.push_back({"lm_head.weight", {config.vocabSize, hidden}});
    return list;
}

Result<Checkpoint> Checkpoint::open(const fs::path& folder) {
    std::error_code problem;
    if (!fs::is_directory(folder, problem)) {
        const std::string cause = problem && problem != std::errc::no_such_file_or_directory ? problem.message() : "there is no such folder";
        return makeError(ErrorCode::badInput, fmt::format("the model folder {} cannot be opened: {}", toUtf8(folder), cause),
                         "Check the path and its permissions, or choose a preset.");
    }
    auto impl = std::make_unique<Impl>();
    const Result<std::string> text = readTextFile(folder / "config.json");
    if (!text) return text.error();
    Result<ModelConfig> config = parseConfig(*text, displayName(folder));
    if (!config) return config.error();
    impl->config = std::move(*config);
    if (const auto error = readGenerationConfig(folder, impl->config)) return *error;

    Result<WeightFiles> weights = findWeightFiles(folder);
    if (!weights) return weights.error();
    for (const std::string& name : weights->files) {
        const fs::path path = folder / fromUtf8(name);
        Result<MappedFile> mapping = MappedFile::open(path);
        if (!mapping) return mapping.error();
        Result<std::vector<TensorInfo>> tensors = parseSafetensors(mapping->bytes(), name);
        if (!tensors) return tensors.error();
        for (TensorInfo& tensor : *tensors) {
            // With an index, the index says which of several copies is meant; tensors that it does not list are left aside.
            const auto entry = weights->shardOf.find(tensor.name);
            if (!weights->shardOf.empty() && (entry == weights->shardOf.end() || entry->second != name)) continue;
            std::string key = tensor.name;
            impl->tensors.emplace(std::move(key), std::move(tensor));
        }
        impl->files.push_back(path);
        impl->mappings.push_back(std::move(*mapping));
    }
    for (const auto& [tensor, shard] : weights->shardOf) {
        if (!impl->tensors.contains(tensor)) {
            return makeError(ErrorCode::badInput, fmt::format("the index places tensor {} in {}, which does not hold it", shown(tensor), shard),
                             "Index and shards do not belong together; fetch both from the same place.");
        }
    }
    if (const auto error = checkExpected(impl->config, impl->tensors)) return *error;
    if (impl->config.dtype.empty()) impl->config.dtype = impl->tensors.at("model.embed_tokens.weight").dtype;
    return Checkpoint(std::move(impl));
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

const ModelConfig& Checkpoint::config() const { return m_impl->config; }
const std::map<std::string, TensorInfo, std::less<>>& Checkpoint::tensors() const { return m_impl->tensors; }
const std::vector<fs::path>& Checkpoint::files() const { return m_impl->files; }

const TensorInfo* Checkpoint::find(std::string_view name) const {
    const auto found = m_impl->tensors.find(name);
    return found == m_impl->tensors.end() ? nullptr : &found->second;
}

std::int64_t Checkpoint::bytes() const {
    std::int64_t sum = 0;
    for (const auto& [name, tensor] : m_impl->tensors) sum += static_cast<std::int64_t>(tensor.bytes.size());
    return sum;
}

}  // namespace kernelscope
