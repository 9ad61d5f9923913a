#include "core/model/tokenize.h"

#include <gtest/gtest.h>

#include "tests/tokenizer/qwen.h"

namespace kernelscope {
namespace {

using nlohmann::json;

const std::string kFolder = std::string(KERNELSCOPE_FIXTURES) + "/checkpoints/tiny-tied-f32";

ModelSource tiny() { return *resolveModel("qwen2.5-tiny"); }

TEST(Tokenize, GivesIdsTokensAndTheText) {
    const Result<json> answer = tokenize(tiny(), {{"text", "Hello, world!"}});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(*answer, json::parse(R"({"ids": [9707, 11, 1879, 0], "tokens": ["Hello", ",", " world", "!"], "text": "Hello, world!"})"));
}

TEST(Tokenize, AppliesTheChatTemplateWhenAsked) {
    const Result<json> answer = tokenize(tiny(), {{"text", "hi"}, {"chat", true}});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ((*answer)["ids"][0], 151644);
    EXPECT_NE((*answer)["text"].get<std::string>().find("<|im_start|>user\nhi<|im_end|>"), std::string::npos);
}

TEST(Tokenize, GoesTheOtherWay) {
    const Result<json> answer = tokenize(tiny(), {{"ids", {151644, 9707, 1879, 151900}}});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ((*answer)["text"], "Hello world");  // special tokens and padding show nothing
    EXPECT_EQ((*answer)["tokens"], json::parse(R"(["<|im_start|>", "Hello", " world", ""])"));
}

TEST(Tokenize, RefusesIdsOutsideTheVocabulary) {
    for (const json& ids : {json::array({151936}), json::array({-1}), json::array({1.5}), json::array({"1"}), json(7)}) {
        const Result<json> answer = tokenize(tiny(), {{"ids", ids}});
        ASSERT_FALSE(answer.ok()) << ids;
        EXPECT_EQ(answer.error().code, ErrorCode::usage);
    }
    EXPECT_EQ(tokenize(tiny(), json::object()).error().code, ErrorCode::usage);
    EXPECT_EQ(tokenize(tiny(), {{"text", 7}}).error().code, ErrorCode::usage);
}

TEST(Tokenize, SaysThatAModelHasNoTokenizer) {
    const Result<json> answer = tokenize({kFolder, nullptr, kFolder}, {{"text", "x"}});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::badInput);
    EXPECT_NE(answer.error().message.find("has no tokenizer"), std::string::npos);
}

}  // namespace
}  // namespace kernelscope
