#include "core/model/tokenizer.h"

#include <ctime>
#include <fstream>
#include <iostream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/tokenizer/qwen.h"

namespace kernelscope {
namespace {

using test::ids;
using test::Ids;
using test::qwen;

/// Seconds of processor time: what one core needs, however many programs share it.
double secondsSince(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

TEST(QwenTokenizer, GivesTheIdsOfEveryGoldenCase) {
    std::ifstream file(std::string(KERNELSCOPE_FIXTURES) + "/tokenizer/golden_cases.jsonl");
    int cases = 0;
    for (std::string line; std::getline(file, line);) {
        const nlohmann::json golden = nlohmann::json::parse(line);
        EXPECT_EQ(ids(qwen(), golden["text"].get<std::string>()), golden["ids"].get<Ids>()) << golden["text"];
        ++cases;
    }
    EXPECT_EQ(cases, 33);
}

TEST(QwenTokenizer, ShowsTheGoldenTextsAgain) {
    std::ifstream file(std::string(KERNELSCOPE_FIXTURES) + "/tokenizer/golden_cases.jsonl");
    for (std::string line; std::getline(file, line);) {
        const nlohmann::json golden = nlohmann::json::parse(line);
        const std::string text = golden["text"].get<std::string>();
        // Composing (NFC) cannot be undone; the golden texts that need it are told by encoding again.
        const std::string shown = qwen().decode(golden["ids"].get<Ids>(), SpecialTokens::keep);
        EXPECT_EQ(ids(qwen(), shown), golden["ids"].get<Ids>());
        if (shown != text) {
            EXPECT_EQ(text, "e\u0301 caf\u00E9") << shown;
        }
    }
}

TEST(QwenTokenizer, CountsItsTokens) {
    EXPECT_EQ(qwen().tokenCount(), 151665);
    EXPECT_EQ(qwen().end(), 151665);  // rows from here to 151936 are padding
    EXPECT_EQ(qwen().addedTokens().size(), 22U);
    EXPECT_TRUE(qwen().contains(151664));
    EXPECT_FALSE(qwen().contains(151665));
    EXPECT_FALSE(qwen().contains(-1));
    EXPECT_EQ(qwen().idOfAdded("<|im_end|>"), 151645);
    EXPECT_EQ(qwen().idOfAdded("<|nothing|>"), std::nullopt);
}

TEST(QwenTokenizer, DropsSpecialTokensAndPaddingFromShownText) {
    const Ids chat = ids(qwen(), "<|im_start|>user\nhi<|im_end|>\n<tool_call>");
    EXPECT_EQ(qwen().decode(chat), "user\nhi\n<tool_call>");  // tool_call is added, but not special
    EXPECT_EQ(qwen().decode(chat, SpecialTokens::keep), "<|im_start|>user\nhi<|im_end|>\n<tool_call>");
    EXPECT_EQ(qwen().decode(Ids{151900, -5, 1000000000000}), "");
}

TEST(QwenTokenizer, NamesTokensAsText) {
    EXPECT_EQ(qwen().tokenText(1879), " world");
    EXPECT_EQ(qwen().tokenText(151645), "<|im_end|>");
    EXPECT_EQ(qwen().tokenText(11162), " \uFFFD");  // the beginning of a character
    EXPECT_EQ(qwen().tokenText(151935), "");
}

TEST(QwenTokenizer, StreamsWholeCharactersOnly) {
    const std::string text = " this is 🦙.cpp កាន់ 模型";
    const Ids tokens = ids(qwen(), text);
    StreamingDecoder decoder(qwen());
    std::string shown;
    for (const std::int64_t id : tokens) {
        const std::string piece = decoder.push(id);
        EXPECT_EQ(validPrefix(piece), piece.size());
        EXPECT_EQ(piece.find("\uFFFD"), std::string::npos);
        shown += piece;
    }
    EXPECT_EQ(shown + decoder.finish(), text);
}

TEST(QwenTokenizer, StreamingAndDecodingAgreeOnAnyIds) {
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        Ids tokens;
        for (int i = 0; i < 30; ++i) tokens.push_back(static_cast<std::int64_t>(random() % 152000));
        StreamingDecoder decoder(qwen());
        std::string shown;
        for (const std::int64_t id : tokens) shown += decoder.push(id);
        shown += decoder.finish();
        EXPECT_EQ(shown, qwen().decode(tokens));
        EXPECT_EQ(validPrefix(shown), shown.size());
    }
}

TEST(QwenTokenizer, TakesAnyBytesAndGivesThemBack) {
    std::mt19937 random(5);
    for (int round = 0; round < 500; ++round) {
        std::string bytes;
        for (unsigned i = random() % 200; i > 0; --i) bytes.push_back(static_cast<char>(random() % (round % 2 ? 256 : 128)));
        std::string back;
        for (const std::int64_t id : ids(qwen(), bytes)) back += qwen().tokenBytes(id);
        // Random two-byte characters may be composed; everything else comes back byte for byte.
        if (round % 2 == 0) {
            EXPECT_EQ(back, bytes);
        }
    }
    std::string every;
    for (int byte = 255; byte >= 0; --byte) every.push_back(static_cast<char>(byte));
    std::string back;
    for (const std::int64_t id : ids(qwen(), every)) back += qwen().tokenBytes(id);
    EXPECT_EQ(back, every);
    EXPECT_EQ(ids(qwen(), ""), Ids());
}

TEST(QwenTokenizer, ComposesCharacters) {
    EXPECT_EQ(ids(qwen(), "cafe\u0301"), ids(qwen(), "caf\u00E9"));
    EXPECT_EQ(ids(qwen(), "\u1112\u1161\u11AB"), ids(qwen(), "\uD55C"));
}

/// Prose of several scripts, code, digits and signs, up to the size.
std::string mixedText(std::size_t size) {
    std::mt19937 random(3);
    constexpr std::string_view kWords[] = {"the", " kernel", " attention", " launches", "Über", "größe", " 模型", "推理", " быстрый", "\n", "    return x + 1;\n",
                                           " 3.14159", "!!", " don't", " 🚀", "कर्नेल", "\t", "std::vector<float>", " zxqvjk", "_id"};
    std::string text;
    text.reserve(size + 32);
    while (text.size() < size) {
        if (random() % 8 == 0) {  // a word nobody has seen
            text.push_back(' ');
            for (unsigned i = 2 + random() % 9; i > 0; --i) text.push_back(static_cast<char>('a' + random() % 26));
        } else {
            text += kWords[random() % std::size(kWords)];
        }
    }
    return text;
}

// The limits are several times what one slow core needs, so that they fail for a wrong algorithm and not for a sanitizer.
TEST(TokenizerSpeed, TenMegabytesOfTextTakeLessThanTenSeconds) {
    const std::string text = mixedText(10'000'000);
    qwen();
    const auto start = std::clock();
    const Ids tokens = ids(qwen(), text);
    const double seconds = secondsSince(start);
    std::cout << "[ figure   ] 10 MB of mixed text: " << seconds << " s, " << tokens.size() << " tokens\n";
    EXPECT_GT(tokens.size(), 1'000'000U);
    EXPECT_LT(seconds, 10.0);
}

TEST(TokenizerSpeed, RunsWithoutAnEndAreNotQuadratic) {
    for (const auto& [name, unit] : {std::pair("letters", "a"), std::pair("spaces", " "), std::pair("line ends", "\n"), std::pair("signs", "="),
                                     std::pair("emoji", "🚀"), std::pair("accents", "\u0301"), std::pair("broken bytes", "\xFF"), std::pair("smaller-than", "<|")}) {
        std::string text = "x";
        while (text.size() < 1'000'000) text += unit;
        text += "x";
        const auto start = std::clock();
        std::string back;
        for (const std::int64_t id : ids(qwen(), text)) back += qwen().tokenBytes(id);
        const double seconds = secondsSince(start);
        std::cout << "[ figure   ] 1 MB of " << name << ": " << seconds << " s\n";
        EXPECT_EQ(back == text, true) << name;
        EXPECT_LT(seconds, 10.0) << name;
    }
}

TEST(TokenizerSpeed, TheVocabularyLoadsInLessThanASecond) {
    const auto start = std::clock();
    const Result<Tokenizer> loaded = Tokenizer::load(KERNELSCOPE_BUNDLED_TOKENIZER);
    const double seconds = secondsSince(start);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    std::cout << "[ figure   ] loading 151,643 tokens and 151,387 merges: " << seconds << " s\n";
    EXPECT_LT(seconds, 5.0);  // of a sanitizer build; others need a few tenths
}

TEST(TokenizerFolder, IsTheBundledOneForPresetsAndTheModelsOwnElse) {
    const Result<std::optional<std::filesystem::path>> preset = tokenizerFolder(*resolveModel("qwen2.5-tiny"));
    ASSERT_TRUE(preset.ok()) << preset.error().message;
    EXPECT_TRUE(std::filesystem::equivalent(**preset, KERNELSCOPE_BUNDLED_TOKENIZER));
    const Result<std::optional<Tokenizer>> none = loadTokenizer({"x", nullptr, std::string(KERNELSCOPE_FIXTURES) + "/checkpoints/tiny-tied-f32"});
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none->has_value());
}

TEST(TokenizerFolder, ResourcesCanBeElsewhere) {
    const test::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "tokenizer/qwen2.5");
    ::setenv("KERNELSCOPE_RESOURCES", folder.path().c_str(), 1);
    const Result<std::optional<std::filesystem::path>> found = tokenizerFolder(*resolveModel("qwen2.5-tiny"));
    ::unsetenv("KERNELSCOPE_RESOURCES");
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(**found, folder.path() / "tokenizer/qwen2.5");
}

}  // namespace
}  // namespace kernelscope
