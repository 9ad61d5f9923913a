#include "core/model/pre_tokenizer.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

using nlohmann::json;
using Pieces = std::vector<std::string>;

Pieces split(const PreTokenizer& preTokenizer, std::string_view text) {
    Pieces pieces;
    const Result<void> done = preTokenizer.split(text, [&](std::string_view piece) {
        pieces.emplace_back(piece);
        return Result<void>();
    });
    EXPECT_TRUE(done.ok()) << done.error().message;
    return pieces;
}

Pieces split(const char* description, std::string_view text) {
    const Result<PreTokenizer> preTokenizer = PreTokenizer::fromJson(json::parse(description));
    EXPECT_TRUE(preTokenizer.ok()) << preTokenizer.error().message;
    return preTokenizer.ok() ? split(*preTokenizer, text) : Pieces();
}

TEST(PreTokenizer, CutsAsTheQwenFamilyDoes) {
    const Result<PreTokenizer> qwen = PreTokenizer::qwen();
    ASSERT_TRUE(qwen.ok());
    EXPECT_EQ(split(*qwen, "Hello  world's 42 (test)...\n\n x"),
              (Pieces{"Hello", " ", " world", "'s", " ", "4", "2", " (", "test", ")...\n\n", " x"}));
    EXPECT_EQ(split(*qwen, "I'LL"), (Pieces{"I", "'LL"}));
    EXPECT_EQ(split(*qwen, ""), Pieces{});
}

constexpr const char* kByteLevel = R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})";

std::string sequence(const std::string& first) { return R"({"type": "Sequence", "pretokenizers": [)" + first + ", " + kByteLevel + "]}"; }

TEST(PreTokenizer, IsWhatTokenizerJsonSays) {
    EXPECT_EQ(split(kByteLevel, "a b"), (Pieces{"a b"}));
    EXPECT_EQ(split(R"({"type": "ByteLevel", "add_prefix_space": false})", "ab cd 12"), (Pieces{"ab", " cd", " 12"}));
    EXPECT_EQ(split(R"({"type": "ByteLevel", "use_regex": false})", "ab"), (Pieces{" ab"}));
    EXPECT_EQ(split(R"({"type": "ByteLevel", "use_regex": false})", " ab"), (Pieces{" ab"}));
    EXPECT_EQ(split(sequence(R"({"type": "Digits", "individual_digits": true})").c_str(), "ab12c"), (Pieces{"ab", "1", "2", "c"}));
    EXPECT_EQ(split(sequence(R"({"type": "Digits", "individual_digits": false})").c_str(), "ab12c"), (Pieces{"ab", "12", "c"}));
    EXPECT_EQ(split(sequence(R"({"type": "Split", "pattern": {"Regex": "b+"}, "behavior": "Isolated", "invert": false})").c_str(), "abba"), (Pieces{"a", "bb", "a"}));
    EXPECT_EQ(split(sequence(R"({"type": "Split", "pattern": {"Regex": "b+"}, "behavior": "Removed", "invert": false})").c_str(), "abba"), (Pieces{"a", "a"}));
    EXPECT_EQ(split(sequence(R"({"type": "Split", "pattern": {"Regex": "b+"}, "behavior": "Removed", "invert": true})").c_str(), "abba"), (Pieces{"bb"}));
    EXPECT_EQ(split(sequence(R"({"type": "Split", "pattern": {"String": "."}, "behavior": "Isolated"})").c_str(), "a.b"), (Pieces{"a", ".", "b"}));
}

TEST(PreTokenizer, StepsFollowOneAnother) {
    EXPECT_EQ(split(R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": " "}, "behavior": "Removed"},
                        {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true}]}, {"type": "ByteLevel", "use_regex": false}]})",
                    "a1 b"),
              (Pieces{" a", " 1", " b"}));
}

TEST(PreTokenizer, RefusesOthersInWords) {
    const std::string long_sequence = [] {
        json list = json::array();
        for (int i = 0; i < 40; ++i) list.push_back({{"type", "Digits"}});
        return json{{"type", "Sequence"}, {"pretokenizers", list}}.dump();
    }();
    for (const auto& [description, says] : {
             std::pair<std::string, const char*>(R"({"type": "Metaspace"})", "Metaspace"), {R"({"type": "Whitespace"})", "Whitespace"}, {"7", "7"}, {"null", "null"}, {"{}", "{}"},
             {R"({"type": "Digits"})", "no ByteLevel"}, {R"({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})", "cannot be used"},
             {R"({"type": "Split", "behavior": "Isolated"})", "without a pattern"}, {R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "MergedWithNext"})", "MergedWithNext"},
             {R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]})", "behind ByteLevel"}, {R"({"type": "Sequence"})", "Sequence"},
             {long_sequence, "too many steps"},
         }) {
        const Result<PreTokenizer> preTokenizer = PreTokenizer::fromJson(json::parse(description));
        ASSERT_FALSE(preTokenizer.ok()) << description;
        EXPECT_EQ(preTokenizer.error().code, ErrorCode::badInput);
        EXPECT_NE(preTokenizer.error().message.find(says), std::string::npos) << preTokenizer.error().message;
        EXPECT_FALSE(preTokenizer.error().advice.empty());
    }
}

TEST(PreTokenizer, APatternThatExplodesGivesUpInWords) {
    const Result<PreTokenizer> preTokenizer = PreTokenizer::fromJson(json::parse(sequence(R"({"type": "Split", "pattern": {"Regex": "(a|aa)+$"}, "behavior": "Isolated"})")));
    ASSERT_TRUE(preTokenizer.ok());
    const Result<void> done = preTokenizer->split(std::string(200, 'a') + "b", [](std::string_view) { return Result<void>(); });
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.error().message.find("gave up"), std::string::npos) << done.error().message;
}

TEST(PreTokenizer, TheFirstErrorOfThePieceEndsIt) {
    int pieces = 0;
    const Result<void> done = PreTokenizer::qwen()->split("a b c", [&](std::string_view) -> Result<void> {
        ++pieces;
        return makeError(ErrorCode::badInput, "enough");
    });
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().message, "enough");
    EXPECT_EQ(pieces, 1);
}

TEST(Normaliser, IsWhatTokenizerJsonSays) {
    const auto apply = [](const char* description, std::string_view text) {
        const Result<Normaliser> normaliser = Normaliser::fromJson(json::parse(description));
        EXPECT_TRUE(normaliser.ok()) << normaliser.error().message;
        return *normaliser->apply(text);
    };
    EXPECT_EQ(apply("null", "e\u0301"), "e\u0301");
    EXPECT_EQ(apply(R"({"type": "NFC"})", "e\u0301"), "\u00E9");
    EXPECT_EQ(apply(R"({"type": "NFD"})", "\u00E9"), "e\u0301");
    EXPECT_EQ(apply(R"({"type": "NFKC"})", "\uFB01"), "fi");
    EXPECT_EQ(apply(R"({"type": "NFKD"})", "\u00BD"), "1\u20442");
    EXPECT_EQ(apply(R"({"type": "NFC"})", "\u00BD"), "\u00BD");
    EXPECT_EQ(apply(R"({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "NFC"}]})", "\u00E9"), "\u00E9");
    EXPECT_EQ(apply(R"({"type": "NFC"})", std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(Normaliser, RefusesOthersInWords) {
    for (const char* description : {R"({"type": "Lowercase"})", R"({"type": "Sequence", "normalizers": [{"type": "Strip"}]})", "3", R"({"type": "Sequence"})"}) {
        const Result<Normaliser> normaliser = Normaliser::fromJson(json::parse(description));
        ASSERT_FALSE(normaliser.ok()) << description;
        EXPECT_NE(normaliser.error().message.find("normalizer"), std::string::npos) << normaliser.error().message;
    }
}

}  // namespace
}  // namespace kernelscope
