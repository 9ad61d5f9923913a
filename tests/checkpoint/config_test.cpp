#include "core/model/config.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/model/checkpoint.h"

namespace kernelscope {
namespace {

using nlohmann::json;

json older() {
    return json::parse(R"({"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_act": "silu", "hidden_size": 896,
        "intermediate_size": 4864, "max_position_embeddings": 32768, "num_attention_heads": 14, "num_hidden_layers": 24,
        "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "rope_scaling": null, "sliding_window": 32768,
        "use_sliding_window": false, "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 151936,
        "bos_token_id": 151643, "eos_token_id": 151645})");
}

json newer() {
    json config = older();
    config.erase("rope_theta");
    config.erase("torch_dtype");
    config["dtype"] = "bfloat16";
    config["rope_parameters"] = {{"rope_theta", 1e6}, {"rope_type", "default"}};
    config["layer_types"] = std::vector<std::string>(24, "full_attention");
    return config;
}

TEST(Config, ReadsOlderAndNewerKeysAlike) {
    const Result<ModelConfig> a = parseConfig(older().dump(), "a");
    const Result<ModelConfig> b = parseConfig(newer().dump(), "b");
    ASSERT_TRUE(a.ok()) << a.error().message;
    ASSERT_TRUE(b.ok()) << b.error().message;
    for (const ModelConfig& config : {*a, *b}) {
        EXPECT_EQ(config.layers, 24);
        EXPECT_EQ(config.hiddenSize, 896);
        EXPECT_EQ(config.intermediateSize, 4864);
        EXPECT_EQ(config.heads, 14);
        EXPECT_EQ(config.kvHeads, 2);
        EXPECT_EQ(config.headDim, 64);
        EXPECT_EQ(config.vocabSize, 151936);
        EXPECT_EQ(config.contextLength, 32768);
        EXPECT_EQ(config.ropeTheta, 1e6);
        EXPECT_EQ(config.rmsNormEps, 1e-6);
        EXPECT_TRUE(config.tiedEmbeddings);
        EXPECT_EQ(config.dtype, "bfloat16");
        EXPECT_EQ(config.eosTokenIds, std::vector<std::int64_t>{151645});
    }
    EXPECT_EQ(a->name, "a");
}

struct Change {
    const char* key;    ///< a JSON pointer
    const char* value;  ///< JSON; "-" removes the key
};

json changed(const std::vector<Change>& changes) {
    json config = older();
    for (const Change& change : changes) {
        if (std::string(change.value) == "-") config.erase(std::string(change.key).substr(1));
        else config[json::json_pointer(change.key)] = json::parse(change.value);
    }
    return config;
}

TEST(Config, ToleratesUnknownNullAndMissingOptionalKeys) {
    for (const json& config : {
             changed({{"/something_new", R"({"deep": [1, 2]})"}}), changed({{"/torch_dtype", "null"}}), changed({{"/eos_token_id", "null"}}),
             changed({{"/hidden_act", "-"}}), changed({{"/architectures", "-"}}), changed({{"/model_type", "-"}}),
             changed({{"/rope_scaling", R"({"rope_type": "default"})"}}), changed({{"/rope_scaling", R"({"type": "default"})"}}),
             changed({{"/rope_parameters", R"({"rope_theta": 1000000, "rope_type": "default"})"}}),  // both, and they agree
             changed({{"/dtype", R"("bfloat16")"}}), changed({{"/torch_dtype", R"("torch.float16")"}}),
             changed({{"/max_position_embeddings", "32768.0"}}), changed({{"/eos_token_id", "[151645, 151643]"}}),
             changed({{"/quantization_config", "null"}}), changed({{"/use_sliding_window", "null"}}), changed({{"/rms_norm_eps", "-"}}),
         }) {
        const Result<ModelConfig> read = parseConfig(config.dump(), "x");
        EXPECT_TRUE(read.ok()) << config.dump() << "\n" << read.error().message;
    }
}

TEST(Config, MissingKeyValueHeadsMeanOneForEachHead) {
    EXPECT_EQ(parseConfig(changed({{"/num_key_value_heads", "null"}}).dump(), "x")->kvHeads, 14);
}

TEST(Config, TakesAHeadSizeThatIsNotHiddenOverHeads) {
    const Result<ModelConfig> read = parseConfig(changed({{"/head_dim", "128"}, {"/hidden_size", "900"}}).dump(), "x");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->headDim, 128);
}

struct Refusal {
    std::vector<Change> changes;
    const char* named;  ///< what the message has to name
};

/// "hidden_size 0" as a name: letters and digits of the changes, with a number behind it against equal names.
std::string nameOf(const testing::TestParamInfo<Refusal>& refusal) {
    std::string name;
    for (const Change& change : refusal.param.changes) name += std::string(change.key) + "_" + change.value;
    std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; });
    return name.substr(0, 60) + "_" + std::to_string(refusal.index);
}
void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.named; }

class RefusedConfig : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedConfig, NamesTheKeyAndAWayOut) {
    const Result<ModelConfig> read = parseConfig(changed(GetParam().changes).dump(), "x");
    ASSERT_FALSE(read.ok()) << changed(GetParam().changes).dump();
    EXPECT_EQ(read.error().code, ErrorCode::badInput);
    EXPECT_NE(read.error().message.find(GetParam().named), std::string::npos) << read.error().message;
    EXPECT_FALSE(read.error().advice.empty()) << read.error().message;
}

#define ONE(key, value, named) Refusal{{{key, value}}, named}
INSTANTIATE_TEST_SUITE_P(Missing, RefusedConfig, testing::Values(
    ONE("/hidden_size", "-", "hidden_size is missing"), ONE("/hidden_size", "null", "hidden_size is missing"),
    ONE("/num_hidden_layers", "-", "num_hidden_layers"), ONE("/num_attention_heads", "-", "num_attention_heads"),
    ONE("/intermediate_size", "-", "intermediate_size"), ONE("/vocab_size", "-", "vocab_size"), ONE("/rope_theta", "-", "rope_theta"),
    Refusal{{{"/model_type", "-"}, {"/architectures", "-"}}, "model_type"},
    Refusal{{{"/model_type", "null"}, {"/architectures", "[]"}}, "model_type"}), nameOf);
INSTANTIATE_TEST_SUITE_P(Impossible, RefusedConfig, testing::Values(
    ONE("/num_attention_heads", "0", "num_attention_heads"), ONE("/num_attention_heads", "13", "num_attention_heads"),
    ONE("/num_attention_heads", "-14", "num_attention_heads"), ONE("/num_attention_heads", "14.5", "num_attention_heads"),
    ONE("/num_attention_heads", "\"14\"", "num_attention_heads"), ONE("/num_attention_heads", "true", "num_attention_heads"),
    ONE("/num_attention_heads", "[14]", "num_attention_heads"), ONE("/num_attention_heads", "1e300", "num_attention_heads"),
    ONE("/num_key_value_heads", "3", "num_key_value_heads"), ONE("/num_key_value_heads", "0", "num_key_value_heads"),
    ONE("/num_key_value_heads", "28", "num_key_value_heads"), ONE("/hidden_size", "0", "hidden_size"),
    ONE("/hidden_size", "9223372036854775807", "hidden_size"), ONE("/hidden_size", "18446744073709551615", "hidden_size"),
    ONE("/hidden_size", "99999999999999999999999", "hidden_size"), ONE("/hidden_size", "-9223372036854775808", "hidden_size"),
    ONE("/num_hidden_layers", "1000000000", "num_hidden_layers"), ONE("/vocab_size", "-1", "vocab_size"),
    ONE("/intermediate_size", "{}", "intermediate_size"), ONE("/head_dim", "0", "head_dim"), ONE("/head_dim", "63", "head_dim"),
    ONE("/hidden_size", "14", "even"), ONE("/max_position_embeddings", "0", "max_position_embeddings"),
    ONE("/rope_theta", "0", "rope_theta"), ONE("/rope_theta", "-1", "rope_theta"), ONE("/rope_theta", "\"1e6\"", "rope_theta"),
    ONE("/rms_norm_eps", "0", "rms_norm_eps"), ONE("/rms_norm_eps", "-1e-6", "rms_norm_eps"), ONE("/rms_norm_eps", "1", "rms_norm_eps"),
    ONE("/tie_word_embeddings", "1", "tie_word_embeddings"), ONE("/torch_dtype", "16", "torch_dtype"),
    ONE("/eos_token_id", "-1", "eos_token_id"), ONE("/eos_token_id", "151936", "eos_token_id"), ONE("/eos_token_id", "[1, \"a\"]", "eos_token_id"),
    ONE("/eos_token_id", "[[1]]", "eos_token_id"),
    Refusal{{{"/hidden_size", "1048576"}, {"/num_attention_heads", "1024"}, {"/num_hidden_layers", "4096"}, {"/intermediate_size", "4194304"}}, "hidden_size"}), nameOf);
INSTANTIATE_TEST_SUITE_P(Contradictory, RefusedConfig, testing::Values(
    ONE("/rope_parameters", R"({"rope_theta": 10000})", "rope_parameters.rope_theta is 10000, but rope_theta is 1000000"),
    ONE("/rope_scaling", R"({"rope_theta": 10000})", "rope_scaling.rope_theta"), ONE("/dtype", "\"float16\"", "torch_dtype"),
    ONE("/layer_types", R"(["full_attention"])", "layer_types")), nameOf);
INSTANTIATE_TEST_SUITE_P(NotImplemented, RefusedConfig, testing::Values(
    ONE("/hidden_act", "\"gelu\"", "hidden_act is \"gelu\""), ONE("/hidden_act", "7", "hidden_act"),
    ONE("/model_type", "\"llama\"", "model_type"), ONE("/model_type", "\"qwen3\"", "model_type"), ONE("/architectures", "[\"LlamaForCausalLM\"]", "architectures"),
    ONE("/architectures", "\"Qwen2ForCausalLM\"", "architectures"), ONE("/architectures", "[1]", "architectures"),
    ONE("/rope_scaling", R"({"type": "yarn", "factor": 4.0})", "rope_scaling.type is \"yarn\""),
    ONE("/rope_scaling", R"({"rope_type": "linear", "factor": 2})", "rope_scaling.rope_type"), ONE("/rope_scaling", R"({"factor": 2})", "rope_scaling.factor"),
    ONE("/rope_scaling", "4", "rope_scaling"), ONE("/rope_parameters", R"({"full_attention": {"rope_theta": 1000000}})", "rope_parameters.full_attention"),
    ONE("/rope_parameters", R"({"rope_type": "yarn", "rope_theta": 1000000})", "rope_parameters.rope_type"),
    ONE("/partial_rotary_factor", "0.5", "partial_rotary_factor"), ONE("/rope_parameters", R"({"partial_rotary_factor": 0.5})", "rope_parameters.partial_rotary_factor"),
    ONE("/quantization_config", R"({"bits": 4})", "quantization_config"), ONE("/quantization", R"({"bits": 4})", "quantization"),
    ONE("/use_sliding_window", "true", "use_sliding_window"), ONE("/layer_types", "[\"sliding_attention\"]", "layer_types"),
    ONE("/torch_dtype", "\"float64\"", "torch_dtype"), ONE("/torch_dtype", "\"auto\"", "torch_dtype")), nameOf);
#undef ONE

TEST(Config, RefusesWhatIsNoJsonObject) {
    const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
    for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("\"x\""),
                                    std::string("{} {}"), std::string("{\"a\": 1, \"a\": 2}"), std::string("{\"a\": \"\xff\xfe\"}"),
                                    std::string("\0\0\0\0", 4), std::string("{\"a\": 1e999}"), std::string("{\"a\": NaN}"), deep}) {
        const Result<ModelConfig> read = parseConfig(text, "x");
        ASSERT_FALSE(read.ok()) << text.substr(0, 40);
        EXPECT_EQ(read.error().code, ErrorCode::badInput);
        EXPECT_NE(read.error().message.find("config.json"), std::string::npos) << read.error().message;
        EXPECT_FALSE(read.error().advice.empty());
    }
}

TEST(Config, SaysWhereTheJsonBreaks) {
    const Result<ModelConfig> read = parseConfig("{\n  \"hidden_size\": 896,\n  \"heads\" 14\n}", "x");
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find("line 3, column"), std::string::npos) << read.error().message;
}

TEST(Config, CountsParametersAsTheTensorsDo) {
    for (const Preset& preset : presets()) {
        std::int64_t sum = 0;
        for (const ExpectedTensor& tensor : expectedTensors(preset.config)) {
            std::int64_t size = 1;
            for (const std::int64_t length : tensor.shape) size *= length;
            sum += size;
        }
        EXPECT_EQ(sum, preset.config.parameters()) << preset.id;
    }
}

TEST(Presets, HaveThePublishedParameterCounts) {
    // From the model cards: 0.49B, 1.54B, 3.09B, 7.61B, 14.7B, 32.5B, 72.7B.
    const std::pair<const char*, double> published[] = {{"qwen2.5-0.5b", 0.49}, {"qwen2.5-1.5b", 1.54}, {"qwen2.5-3b", 3.09}, {"qwen2.5-7b", 7.61},
                                                        {"qwen2.5-14b", 14.7}, {"qwen2.5-32b", 32.5}, {"qwen2.5-72b", 72.7}};
    for (const auto& [id, billions] : published) {
        const Preset* preset = findPreset(id);
        ASSERT_NE(preset, nullptr) << id;
        EXPECT_NEAR(static_cast<double>(preset->config.parameters()) / 1e9, billions, 0.011 * billions) << id;
    }
}

TEST(Presets, TinyHasTheRealVocabularyAndGroupsOfSeven) {
    const Preset* tiny = findPreset("qwen2.5-tiny");
    ASSERT_NE(tiny, nullptr);
    EXPECT_EQ(tiny->config.layers, 2);
    EXPECT_EQ(tiny->config.hiddenSize, 112);
    EXPECT_EQ(tiny->config.heads / tiny->config.kvHeads, 7);
    EXPECT_EQ(tiny->config.headDim, 8);
    EXPECT_EQ(tiny->config.intermediateSize, 160);
    EXPECT_EQ(tiny->config.vocabSize, 151936);
    EXPECT_EQ(findPreset("qwen2.5"), nullptr);
}

}  // namespace
}  // namespace kernelscope
