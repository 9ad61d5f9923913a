#include "core/model/checkpoint.h"

#include <cstring>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/model/files.h"
#include "core/model/tokenizer.h"
#include "core/model/tokenizer_files.h"
#include "tests/client/peak_memory.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::readFile;
using test::writeFile;

const fs::path kCheckpoints = fs::path(KERNELSCOPE_FIXTURES) / "checkpoints";

TEST(CheckpointFixtures, OneFileWithTiedEmbeddings) {
    const Result<Checkpoint> checkpoint = Checkpoint::open(kCheckpoints / "tiny-tied-f32");
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->config().name, "tiny-tied-f32");
    EXPECT_EQ(checkpoint->config().eosTokenIds, std::vector<std::int64_t>{2});
    EXPECT_EQ(checkpoint->files().size(), 1U);
    EXPECT_EQ(checkpoint->bytes(), checkpoint->config().parameters() * 4);
    EXPECT_EQ(checkpoint->find("lm_head.weight"), nullptr);
    const TensorInfo* norm = checkpoint->find("model.norm.weight");
    ASSERT_NE(norm, nullptr);
    float first = 0;
    std::memcpy(&first, norm->bytes.data(), sizeof first);
    EXPECT_TRUE(first > 0.1F && first < 10.0F) << first;
}

TEST(CheckpointFixtures, SevenShardsWithAnIndex) {
    Result<Checkpoint> opened = Checkpoint::open(kCheckpoints / "tiny-untied-bf16-sharded/");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const Checkpoint checkpoint = std::move(*opened);  // spans stay valid
    EXPECT_EQ(checkpoint.config().name, "tiny-untied-bf16-sharded");
    EXPECT_EQ(checkpoint.config().ropeTheta, 1e4);
    EXPECT_EQ(checkpoint.files().size(), 7U);
    EXPECT_EQ(checkpoint.bytes(), 1876736);  // the index's own total_size
    ASSERT_NE(checkpoint.find("lm_head.weight"), nullptr);
    EXPECT_EQ(checkpoint.find("lm_head.weight")->dtype, "bfloat16");
    EXPECT_EQ(checkpoint.tensors().size(), expectedTensors(checkpoint.config()).size());
}

/// A small good checkpoint, for a test to damage.
class CheckpointFolder : public testing::Test {
protected:
    test::TemporaryFolder m_temporary;
    fs::path m_folder = m_temporary.path() / "My model";
    ModelConfig m_config = smallConfig();

    static ModelConfig smallConfig() {
        ModelConfig config;
        config.layers = 1;
        config.hiddenSize = 8;
        config.intermediateSize = 12;
        config.heads = 2;
        config.kvHeads = 1;
        config.headDim = 4;
        config.vocabSize = 10;
        config.eosTokenIds = {2};
        return config;
    }
    void write(std::size_t shards = 1, const std::string& dtype = "bfloat16") {
        const test::PatternTensors pattern(m_config, dtype);
        const Result<void> written = test::writeCheckpoint(m_folder, m_config, pattern.tensors(), shards);
        ASSERT_TRUE(written.ok()) << written.error().message;
    }
    void changeJson(const std::string& file, const std::function<void(json&)>& change) {
        json document = json::parse(readFile(m_folder / file));
        change(document);
        ASSERT_TRUE(writeFile(m_folder / file, document.dump()));
    }
    /// The weights with one tensor changed, added or (by an empty name) left out.
    void changeTensor(const std::string& name, const std::function<void(test::TensorToWrite&)>& change) {
        const test::PatternTensors pattern(m_config, "bfloat16");
        std::vector<test::TensorToWrite> tensors = pattern.tensors();
        for (test::TensorToWrite& tensor : tensors) {
            if (tensor.name == name) change(tensor);
        }
        std::erase_if(tensors, [](const test::TensorToWrite& tensor) { return tensor.name.empty(); });
        ASSERT_TRUE(writeFile(m_folder / "model.safetensors", test::safetensorsFile(tensors)));
    }
    void expectRefused(const std::string& says, const std::string& advises = "") {
        const Result<Checkpoint> checkpoint = Checkpoint::open(m_folder);
        ASSERT_FALSE(checkpoint.ok());
        EXPECT_EQ(checkpoint.error().code, ErrorCode::badInput);
        EXPECT_NE(checkpoint.error().message.find(says), std::string::npos) << checkpoint.error().message;
        EXPECT_NE(checkpoint.error().advice.find(advises), std::string::npos) << checkpoint.error().advice;
        EXPECT_FALSE(checkpoint.error().advice.empty());
    }
    void expectOpens() {
        const Result<Checkpoint> checkpoint = Checkpoint::open(m_folder);
        EXPECT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    }
};

TEST_F(CheckpointFolder, WrittenByTheHelperReadsBackByteForByte) {
    write();
    const test::PatternTensors pattern(m_config, "bfloat16");
    const Result<Checkpoint> checkpoint = Checkpoint::open(m_folder);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const test::TensorToWrite& tensor : pattern.tensors()) {
        const TensorInfo* found = checkpoint->find(tensor.name);
        ASSERT_NE(found, nullptr) << tensor.name;
        EXPECT_TRUE(std::equal(found->bytes.begin(), found->bytes.end(), tensor.bytes.begin(), tensor.bytes.end())) << tensor.name;
    }
    EXPECT_EQ(checkpoint->config().dtype, "bfloat16");  // config.json does not say: taken from the weights
}

TEST_F(CheckpointFolder, ShardsAndHubLinksAreFollowed) {
    write(3);
    const fs::path snapshot = m_temporary.path() / "models--Org--Name-1B/snapshots/abc";
    fs::create_directories(snapshot);
    for (const auto& entry : fs::directory_iterator(m_folder)) {
        fs::create_symlink("../../../My model" / entry.path().filename(), snapshot / entry.path().filename());
    }
    const Result<Checkpoint> checkpoint = Checkpoint::open(snapshot);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    EXPECT_EQ(checkpoint->config().name, "Org/Name-1B");
    EXPECT_EQ(checkpoint->files().size(), 3U);
}

TEST_F(CheckpointFolder, TiedModelsNeedNoLmHeadAndIgnoreOne) {
    write();  // untied: holds lm_head
    changeJson("config.json", [](json& config) { config["tie_word_embeddings"] = true; });
    expectOpens();
    changeTensor("lm_head.weight", [](test::TensorToWrite& tensor) { tensor.name.clear(); });
    expectOpens();
    changeJson("config.json", [](json& config) { config["tie_word_embeddings"] = false; });
    expectRefused("lm_head.weight is missing", "tie_word_embeddings");
}

TEST_F(CheckpointFolder, ExtraTensorsAreLeftAlone) {
    m_config.layers = 2;
    write();
    changeJson("config.json", [](json& config) { config["num_hidden_layers"] = 1; });
    expectOpens();
}

TEST_F(CheckpointFolder, TheGenerationConfigSaysWhatEndsAText) {
    write();
    ASSERT_TRUE(writeFile(m_folder / "generation_config.json", R"({"eos_token_id": [5, 7, 5], "unknown": null})"));
    EXPECT_EQ(Checkpoint::open(m_folder)->config().eosTokenIds, (std::vector<std::int64_t>{5, 7}));
    ASSERT_TRUE(writeFile(m_folder / "generation_config.json", R"({"eos_token_id": null})"));
    EXPECT_EQ(Checkpoint::open(m_folder)->config().eosTokenIds, (std::vector<std::int64_t>{2}));
    ASSERT_TRUE(writeFile(m_folder / "generation_config.json", R"({"eos_token_id": 10})"));
    expectRefused("generation_config.json: eos_token_id holds 10");
    ASSERT_TRUE(writeFile(m_folder / "generation_config.json", "{"));
    expectRefused("generation_config.json");
}

TEST_F(CheckpointFolder, AMissingFolderIsSaidSo) { expectRefused("there is no such folder"); }

TEST_F(CheckpointFolder, AMissingConfigIsSaidSo) {
    write();
    fs::remove(m_folder / "config.json");
    expectRefused("config.json does not exist");
}

TEST_F(CheckpointFolder, ABadConfigNamesTheKey) {
    write();
    changeJson("config.json", [](json& config) { config["hidden_act"] = "relu"; });
    expectRefused("hidden_act");
}

TEST_F(CheckpointFolder, MissingWeightsSayWhatIsThereInstead) {
    write();
    fs::remove(m_folder / "model.safetensors");
    expectRefused("holds no weights", "model.safetensors.index.json");
    ASSERT_TRUE(writeFile(m_folder / "pytorch_model.bin", "x"));
    expectRefused("holds no weights", "convert it to safetensors");
}

TEST_F(CheckpointFolder, AMissingTensorIsNamed) {
    write();
    changeTensor("model.layers.0.mlp.up_proj.weight", [](test::TensorToWrite& tensor) { tensor.name.clear(); });
    expectRefused("tensor model.layers.0.mlp.up_proj.weight is missing");
}

TEST_F(CheckpointFolder, NamesWithoutTheirPrefixAreRecognised) {
    write();
    ASSERT_TRUE(writeFile(m_folder / "model.safetensors", test::safetensorsFile(R"({"norm.weight":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})", "xx")));
    expectRefused("is missing, and 14 others", "prefix");
}

TEST_F(CheckpointFolder, AWrongShapeSaysBothShapes) {
    write();
    changeJson("config.json", [](json& config) { config["intermediate_size"] = 16; });
    expectRefused("tensor model.layers.0.mlp.gate_proj.weight: config.json calls for shape [16, 8], the file holds [12, 8]");
}

TEST_F(CheckpointFolder, ATransposedTensorIsRefused) {
    write();
    changeTensor("model.layers.0.mlp.up_proj.weight", [](test::TensorToWrite& tensor) { std::swap(tensor.shape[0], tensor.shape[1]); });
    expectRefused("up_proj.weight: config.json calls for shape [12, 8], the file holds [8, 12]");
}

TEST_F(CheckpointFolder, WhatFilesClaimIsCheckedBeforeAnythingOfThatSizeIsAllocated) {
    write();
    const std::string config = readFile(m_folder / "config.json"), weights = readFile(m_folder / "model.safetensors");
    if (!forgetPeakMemory()) GTEST_SKIP() << "this system does not tell how much memory was used";
    const double before = peakMemoryMiB();
    const json claims = {1'000'000'000'000, 2'147'483'647, INT64_MAX, 300'000'000, 1e12};
    for (const char* key : {"num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "vocab_size"}) {
        for (const json& claim : claims) {
            changeJson("config.json", [&](json& document) { document[key] = claim; });
            EXPECT_FALSE(Checkpoint::open(m_folder).ok()) << key << " " << claim;
            writeFile(m_folder / "config.json", config);
        }
    }
    for (const json& claim : claims) {
        // A tensor that large in a file of a few kilobytes, then a header that large.
        writeFile(m_folder / "model.safetensors", test::safetensorsFile(R"({"model.norm.weight":{"dtype":"F32","shape":[)" + claim.dump() + R"(],"data_offsets":[0,)" + claim.dump() + "]}}", ""));
        EXPECT_FALSE(Checkpoint::open(m_folder).ok()) << claim;
        std::string longHeader = weights;
        const auto bytes = static_cast<std::uint64_t>(claim.get<double>() < 1e18 ? claim.get<std::int64_t>() : INT64_MAX);
        std::memcpy(longHeader.data(), &bytes, sizeof bytes);
        writeFile(m_folder / "model.safetensors", longHeader);
        EXPECT_FALSE(Checkpoint::open(m_folder).ok()) << claim;
        writeFile(m_folder / "model.safetensors", weights);
        // A token's place in the vocabulary is a place in a list.
        writeFile(m_folder / "merges.txt", "#version: 0.2\n");
        writeFile(m_folder / "vocab.json", R"({"a": )" + claim.dump() + R"(, "b": 1})");
        EXPECT_FALSE(readTokenizerFiles(m_folder).ok()) << claim;
        writeFile(m_folder / "tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}, "added_tokens": [{"content": "<x>", "id": )" + claim.dump() + "}]}");
        EXPECT_FALSE(readTokenizerFiles(m_folder).ok()) << claim;
        fs::remove(m_folder / "tokenizer.json");
    }
    // An id that a vocabulary may hold, in a vocabulary of two.
    writeFile(m_folder / "vocab.json", R"({"a": 0, "b": 16777215})");
    EXPECT_FALSE(Tokenizer::load(m_folder).ok());
    EXPECT_LT(peakMemoryMiB() - before, 48);
}

TEST_F(CheckpointFolder, QuantisedWeightsAreRefused) {
    write();
    std::string file = readFile(m_folder / "model.safetensors");
    const std::size_t at = file.find("\"BF16\"");
    file.replace(at, 6, "\"I16\" ");
    ASSERT_TRUE(writeFile(m_folder / "model.safetensors", file));
    expectRefused("found int16");
}

TEST_F(CheckpointFolder, TornWeightsAreRefusedWhereverTheyAreCut) {
    write();
    const std::string good = readFile(m_folder / "model.safetensors");
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{100}, good.size() / 2, good.size() - 1}) {
        ASSERT_TRUE(writeFile(m_folder / "model.safetensors", good.substr(0, size)));
        expectRefused("model.safetensors");
    }
    ASSERT_TRUE(writeFile(m_folder / "model.safetensors", good + "more"));
    expectRefused("4 bytes at the end");
}

class ShardedFolder : public CheckpointFolder {
protected:
    static constexpr const char* kIndex = "model.safetensors.index.json";
    static constexpr const char* kSecond = "model-00002-of-00003.safetensors";
    void SetUp() override { write(3); }
};

TEST_F(ShardedFolder, AMissingShardIsNamed) {
    fs::remove(m_folder / kSecond);
    expectRefused(std::string(kSecond) + " does not exist");
}

TEST_F(ShardedFolder, ALinkIntoNowhereIsAnUnfinishedDownload) {
    fs::remove(m_folder / kSecond);
    fs::create_symlink("../../blobs/77", m_folder / kSecond);
    expectRefused("is a link to ../../blobs/77, which is not there", "cut short");
}

TEST_F(ShardedFolder, ATornShardIsNamed) {
    ASSERT_TRUE(writeFile(m_folder / kSecond, readFile(m_folder / kSecond).substr(0, 50)));
    expectRefused(kSecond);
}

TEST_F(ShardedFolder, ATensorThatItsShardLacksIsNamed) {
    changeJson(kIndex, [](json& index) { index["weight_map"]["model.norm.weight"] = "model-00001-of-00003.safetensors"; });
    expectRefused("places tensor \"model.norm.weight\" in model-00001-of-00003.safetensors, which does not hold it");
}

TEST_F(ShardedFolder, TensorsThatTheIndexLeavesOutDoNotCount) {
    changeJson(kIndex, [](json& index) { index["weight_map"].erase("model.norm.weight"); });
    expectRefused("tensor model.norm.weight is missing");
}

TEST_F(ShardedFolder, ShardNamesWithAPathAreRefused) {
    for (const char* name : {"../secret.safetensors", "/etc/passwd", "a/b.safetensors", "..", ".", "", "a\\b.safetensors", "C:x.safetensors"}) {
        changeJson(kIndex, [&](json& index) { index["weight_map"]["model.norm.weight"] = name; });
        expectRefused("plain name of a file");
    }
    changeJson(kIndex, [&](json& index) { index["weight_map"]["model.norm.weight"] = std::string("a\0b", 3); });
    expectRefused("plain name of a file");
    changeJson(kIndex, [&](json& index) { index["weight_map"]["model.norm.weight"] = 7; });
    expectRefused("plain name of a file");
}

TEST_F(ShardedFolder, ADamagedIndexIsRefused) {
    changeJson(kIndex, [](json& index) { index["weight_map"] = json::object(); });
    expectRefused("weight_map is empty");
    changeJson(kIndex, [](json& index) { index["weight_map"] = 3; });
    expectRefused("weight_map is a number");
    changeJson(kIndex, [](json& index) { index.erase("weight_map"); });
    expectRefused("weight_map is missing");
    ASSERT_TRUE(writeFile(m_folder / kIndex, "[1]"));
    expectRefused(kIndex);
    ASSERT_TRUE(writeFile(m_folder / kIndex, R"({"weight_map": {"a": "x", "a": "y"}})"));
    expectRefused("twice");
}

TEST_F(ShardedFolder, OneFileBesideAnIndexWins) {
    write(1);
    EXPECT_EQ(Checkpoint::open(m_folder)->files().size(), 1U);
}

}  // namespace
}  // namespace kernelscope
