#include "core/model/inspect.h"

#include <gtest/gtest.h>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/tokenizer/qwen.h"

namespace kernelscope {
namespace {

using nlohmann::json;

const std::string kSharded = std::string(KERNELSCOPE_FIXTURES) + "/checkpoints/tiny-untied-bf16-sharded";

TEST(Inspect, HasTheKeysOfTheCommandLineContract) {
    for (const ModelSource& source : {*resolveModel("qwen2.5-tiny"), ModelSource{kSharded, nullptr, kSharded}}) {
        const Result<json> document = inspectModel(source);
        ASSERT_TRUE(document.ok()) << document.error().message;
        for (const char* key : {"architecture", "parameters", "bytes", "dtype", "layers", "hidden_size", "heads", "kv_heads", "head_dim", "intermediate_size", "vocab_size",
                                "tied", "context", "rope_theta", "rms_norm_eps", "tokenizer", "files", "tensors"}) {
            EXPECT_TRUE(document->contains(key)) << key;
        }
        EXPECT_EQ((*document)["tensors"].size(), source.preset ? 26U : 51U);
    }
}

TEST(Inspect, APresetHasRandomWeightsAndTheBundledTokenizer) {
    const json document = *inspectModel(*resolveModel("qwen2.5-0.5b"));
    EXPECT_EQ(document["weights"], "random");
    EXPECT_EQ(document["parameters"], 494032768);
    EXPECT_EQ(document["bytes"], 2 * 494032768LL);
    EXPECT_EQ(document["files"], json::array());
    EXPECT_EQ(document["tokenizer"]["tokens"], 151665);
    EXPECT_EQ(document["tokenizer"]["bundled"], true);
    EXPECT_EQ(document["tokenizer"]["chat_template"], "ChatML");
}

TEST(Inspect, AFolderHasFilesAndMayLackATokenizer) {
    const json document = *inspectModel({kSharded, nullptr, kSharded});
    EXPECT_EQ(document["weights"], "file");
    EXPECT_EQ(document["name"], "tiny-untied-bf16-sharded");
    EXPECT_EQ(document["bytes"], 1876736);
    EXPECT_EQ(document["files"].size(), 7U);
    EXPECT_EQ(document["tokenizer"], nullptr);
}

TEST(Inspect, ADamagedTokenizerDoesNotSpoilTheRest) {
    const test::TemporaryFolder folder;
    std::filesystem::copy(std::string(KERNELSCOPE_FIXTURES) + "/checkpoints/tiny-tied-f32", folder.path() / "m");
    ASSERT_TRUE(test::writeFile(folder.path() / "m/tokenizer.json", "{"));
    const Result<json> document = inspectModel({"m", nullptr, folder.path() / "m"});
    ASSERT_TRUE(document.ok());
    EXPECT_NE((*document)["tokenizer"]["problem"].get<std::string>().find("tokenizer.json"), std::string::npos);
    EXPECT_FALSE((*document)["tokenizer"]["advice"].get<std::string>().empty());
}

TEST(Inspect, ADamagedModelIsRefused) { EXPECT_FALSE(inspectModel({"m", nullptr, "/nonexistent"}).ok()); }

}  // namespace
}  // namespace kernelscope
