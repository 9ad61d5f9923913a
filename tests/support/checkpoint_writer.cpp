#include "tests/support/checkpoint_writer.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/checkpoint.h"
#include "core/model/files.h"

namespace kernelscope::test {
namespace fs = std::filesystem;
using nlohmann::json;

std::string configJson(const ModelConfig& config) {
    json object = {
        {"architectures", {"Qwen2ForCausalLM"}},
        {"model_type", "qwen2"},
        {"hidden_act", "silu"},
        {"num_hidden_layers", config.layers},
        {"hidden_size", config.hiddenSize},
        {"intermediate_size", config.intermediateSize},
        {"num_attention_heads", config.heads},
        {"num_key_value_heads", config.kvHeads},
        {"vocab_size", config.vocabSize},
        {"max_position_embeddings", config.contextLength},
        {"rope_theta", config.ropeTheta},
        {"rms_norm_eps", config.rmsNormEps},
        {"tie_word_embeddings", config.tiedEmbeddings},
        {"eos_token_id", config.eosTokenIds},
    };
    if (config.headDim * config.heads != config.hiddenSize) object["head_dim"] = config.headDim;
    if (!config.dtype.empty()) object["torch_dtype"] = config.dtype;
    return object.dump(2);
}

std::string safetensorsFile(std::string_view header, std::string_view data) {
    std::string file;
    for (int i = 0; i < 8; ++i) file.push_back(static_cast<char>((static_cast<std::uint64_t>(header.size()) >> (8 * i)) & 0xFFU));
    file.append(header);
    file.append(data);
    return file;
}

std::string safetensorsFile(std::span<const TensorToWrite> tensors) {
    json header = {{"__metadata__", {{"format", "pt"}}}};
    std::string data;
    for (const TensorToWrite& tensor : tensors) {
        const char* code = tensor.dtype == "float32" ? "F32" : tensor.dtype == "float16" ? "F16" : "BF16";
        const std::size_t begin = data.size();
        data.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
        header[tensor.name] = {{"dtype", code}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    std::string text = header.dump();
    while (text.size() % 8 != 0) text.push_back(' ');  // keeps the data aligned, as the format's own writers do
    return safetensorsFile(text, data);
}

Result<void> writeCheckpoint(const fs::path& folder, const ModelConfig& config, std::span<const TensorToWrite> tensors, std::size_t shards) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    const auto write = [&](const std::string& name, const std::string& text) { return writeFile(folder / name, text); };
    bool good = !problem && write("config.json", configJson(config));
    if (shards <= 1) {
        good = good && write("model.safetensors", safetensorsFile(tensors));
    } else {
        json map = json::object();
        const std::size_t perShard = (tensors.size() + shards - 1) / shards;
        for (std::size_t shard = 0; shard < shards; ++shard) {
            const std::size_t first = std::min(shard * perShard, tensors.size());
            const auto part = tensors.subspan(first, std::min(perShard, tensors.size() - first));
            const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
            for (const TensorToWrite& tensor : part) map[tensor.name] = name;
            good = good && write(name, safetensorsFile(part));
        }
        good = good && write("model.safetensors.index.json", json{{"metadata", json::object()}, {"weight_map", map}}.dump(2));
    }
    if (good) return {};
    return makeError(ErrorCode::environment, fmt::format("the checkpoint cannot be written to {}", toUtf8(folder)), "Check the free space.");
}

PatternTensors::PatternTensors(const ModelConfig& config, const std::string& dtype) {
    std::byte next{1};
    for (const ExpectedTensor& expected : expectedTensors(config)) {
        std::size_t size = dtype == "float32" ? 4 : 2;
        for (const std::int64_t length : expected.shape) size *= static_cast<std::size_t>(length);
        std::vector<std::byte> bytes(size);
        for (std::byte& byte : bytes) {
            byte = next;
            next = static_cast<std::byte>((std::to_integer<unsigned>(next) * 5 + 3) & 0x3FU);  // small exponents: finite numbers
        }
        m_bytes.push_back(std::move(bytes));
        m_tensors.push_back({expected.name, dtype, expected.shape, m_bytes.back()});
    }
}

bool writeFile(const fs::path& path, std::string_view text) {
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    return stream.good();
}

std::string readFile(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace kernelscope::test
