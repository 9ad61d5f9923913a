#include "core/model/tokenizer_files.h"

#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/tokenizer/qwen.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Ids;
using test::ids;
using test::readFile;
using test::smallTokenizer;
using test::tokenizerFrom;
using test::writeFile;

TEST(TokenizerJson, ReadsMergesAsStringsAndAsPairs) {
    json document = smallTokenizer();
    const Ids wanted = {5, 6, 3, 1};
    EXPECT_EQ(ids(*tokenizerFrom(document), "abc a b"), wanted);
    document["model"]["merges"] = json::parse(R"([["a", "b"], ["ab", "c"], ["Ġ", "a"]])");
    EXPECT_EQ(ids(*tokenizerFrom(document), "abc a b"), wanted);
}

TEST(TokenizerJson, AddedTokensComeFirst) {
    const Result<Tokenizer> tokenizer = tokenizerFrom(smallTokenizer());
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    EXPECT_EQ(ids(*tokenizer, "a<s>b<t>c"), (Ids{0, 7, 1, 8, 2}));
    EXPECT_FALSE(tokenizer->encode("a<s").ok());  // only the beginning of one, and '<' has no token here
}

TEST(TokenizerJson, TheLongestAddedTokenWins) {
    json document = smallTokenizer();
    document["added_tokens"].push_back({{"id", 9}, {"content", "<s><s>"}, {"special", true}});
    EXPECT_EQ(ids(*tokenizerFrom(document), "a<s><s><s>b"), (Ids{0, 9, 7, 1}));
    EXPECT_EQ(tokenizerFrom(document)->decode(Ids{0, 9, 7, 8, 1}), "a<t>b");
}

TEST(TokenizerJson, NormalisedAddedTokensMatchTheNormalisedText) {
    json document = smallTokenizer();
    document["added_tokens"].push_back({{"id", 9}, {"content", "\u00E9"}, {"special", false}, {"normalized", true}});
    EXPECT_EQ(ids(*tokenizerFrom(document), "ae\u0301b"), (Ids{0, 9, 1}));
    document["added_tokens"][2]["normalized"] = false;
    EXPECT_FALSE(tokenizerFrom(document)->encode("ae\u0301b").ok());  // not there in the raw text, and no token for its bytes
}

struct Change {
    const char* pointer;
    const char* value;  ///< JSON; "-" removes
    const char* says;
};

TEST(TokenizerJson, RefusesOthersInWords) {
    const Change changes[] = {
        {"/model/type", "\"WordPiece\"", "WordPiece"}, {"/model/type", "\"Unigram\"", "Unigram"}, {"/model", "-", "model"}, {"/model", "7", "model"},
        {"/model/vocab", "-", "vocab"}, {"/model/vocab", "{}", "vocabulary"}, {"/model/vocab", "[]", "vocabulary"}, {"/model/vocab/a", "\"0\"", "\"a\""},
        {"/model/vocab/a", "-1", "\"a\""}, {"/model/vocab/a", "1.5", "\"a\""}, {"/model/vocab/a", "1", "id 1"}, {"/model/vocab/a", "99999999999999", "\"a\""},
        {"/model/merges", "-", "merges"}, {"/model/merges", "{}", "merges"}, {"/model/merges/0", "\"ab\"", "merge 1"}, {"/model/merges/0", "\"a b c\"", "merge 1"},
        {"/model/merges/0", "[\"a\"]", "merge 1"}, {"/model/merges/0", "[\"a\", 1]", "merge 1"}, {"/model/merges/0", "\"a z\"", "needs the token"},
        {"/model/byte_fallback", "true", "byte_fallback"}, {"/model/dropout", "0.1", "dropout"}, {"/model/end_of_word_suffix", "\"</w>\"", "end_of_word_suffix"},
        {"/model/continuing_subword_prefix", "\"##\"", "continuing_subword_prefix"}, {"/normalizer", R"({"type": "Lowercase"})", "normalizer"},
        {"/pre_tokenizer", R"({"type": "Metaspace"})", "Metaspace"}, {"/pre_tokenizer", "null", "pre_tokenizer"}, {"/decoder", R"({"type": "WordPiece"})", "decoder"},
        {"/post_processor", R"({"type": "TemplateProcessing"})", "post_processor"}, {"/added_tokens", "{}", "added_tokens"}, {"/added_tokens/0", "3", "added token"},
        {"/added_tokens/0/id", "-", "added token"}, {"/added_tokens/0/content", "\"\"", "added token"}, {"/added_tokens/0/lstrip", "true", "lstrip"},
        {"/added_tokens/0/single_word", "true", "single_word"}, {"/added_tokens/0/id", "8", "id 8"}, {"/added_tokens/0/id", "0", "id 0"}, {"/added_tokens/0/content", "\"<t>\"", "twice"},
    };
    for (const Change& change : changes) {
        json document = smallTokenizer();
        const json::json_pointer pointer(change.pointer);
        if (std::string(change.value) == "-") document[pointer.parent_pointer()].erase(pointer.back());
        else document[pointer] = json::parse(change.value);
        const Result<Tokenizer> tokenizer = tokenizerFrom(document);
        ASSERT_FALSE(tokenizer.ok()) << change.pointer << " " << change.value;
        EXPECT_EQ(tokenizer.error().code, ErrorCode::badInput);
        EXPECT_NE(tokenizer.error().message.find(change.says), std::string::npos) << tokenizer.error().message;
        EXPECT_FALSE(tokenizer.error().advice.empty());
    }
}

TEST(TokenizerJson, ToleratesWhatChangesNothing) {
    for (const Change& change : {Change{"/decoder", "null", ""}, Change{"/post_processor", R"({"type": "ByteLevel", "trim_offsets": false})", ""},
                                 Change{"/post_processor", R"({"type": "Sequence", "processors": [{"type": "ByteLevel"}]})", ""}, Change{"/model/unk_token", "null", ""},
                                 Change{"/model/end_of_word_suffix", "\"\"", ""}, Change{"/model/dropout", "null", ""}, Change{"/normalizer", "null", ""},
                                 Change{"/added_tokens", "null", ""}, Change{"/something_new", "[1]", ""}}) {
        json document = smallTokenizer();
        document[json::json_pointer(change.pointer)] = json::parse(change.value);
        const Result<Tokenizer> tokenizer = tokenizerFrom(document);
        ASSERT_TRUE(tokenizer.ok()) << change.pointer << ": " << tokenizer.error().message;
        EXPECT_EQ(ids(*tokenizer, "abc"), (Ids{5}));
    }
}

class TokenizerFolderTest : public testing::Test {
protected:
    test::TemporaryFolder m_temporary;
    const fs::path& m_folder = m_temporary.path();
    void write(const char* name, const std::string& text) { ASSERT_TRUE(writeFile(m_folder / name, text)); }
    void expectRefused(const std::string& says) {
        const Result<Tokenizer> tokenizer = Tokenizer::load(m_folder);
        ASSERT_FALSE(tokenizer.ok());
        EXPECT_EQ(tokenizer.error().code, ErrorCode::badInput);
        EXPECT_NE(tokenizer.error().message.find(says), std::string::npos) << tokenizer.error().message;
        EXPECT_FALSE(tokenizer.error().advice.empty());
    }
};

constexpr const char* kVocabulary = R"({"a": 0, "b": 1, "#": 2, "ab": 3, "##": 4})";

TEST_F(TokenizerFolderTest, MergesTxtMayHaveAVersionLine) {
    write("vocab.json", kVocabulary);
    for (const char* merges : {"#version: 0.2\na b\n# #\n", "a b\n# #\n", "a b\r\n# #\r\n", "a b\n\n# #", "#version: 0.2\r\na b\r\n# #"}) {
        write("merges.txt", merges);
        EXPECT_EQ(ids(*Tokenizer::load(m_folder), "ab##"), (Ids{3, 4})) << merges;
    }
}

TEST_F(TokenizerFolderTest, AFirstMergeOfHashSignsIsNoVersionLine) {
    write("vocab.json", kVocabulary);
    write("merges.txt", "# #\na b\n");
    EXPECT_EQ(ids(*Tokenizer::load(m_folder), "##ab"), (Ids{4, 3}));
}

TEST_F(TokenizerFolderTest, AddedTokensComeFromEitherFile) {
    write("vocab.json", kVocabulary);
    write("merges.txt", "");
    EXPECT_TRUE(Tokenizer::load(m_folder)->addedTokens().empty());
    write("added_tokens.json", R"({"<|x|>": 7, "<y>": 8})");
    EXPECT_EQ(ids(*Tokenizer::load(m_folder), "a<y><|x|>"), (Ids{0, 8, 7}));
    EXPECT_TRUE(Tokenizer::load(m_folder)->isSpecial(7));
    EXPECT_FALSE(Tokenizer::load(m_folder)->isSpecial(8));
    write("tokenizer_config.json", R"({"added_tokens_decoder": {"7": {"content": "<|x|>", "special": false}, "9": {"content": "<z>", "special": true}}})");
    EXPECT_EQ(ids(*Tokenizer::load(m_folder), "a<z><|x|>"), (Ids{0, 9, 7}));
    EXPECT_FALSE(Tokenizer::load(m_folder)->isSpecial(7));
}

TEST_F(TokenizerFolderTest, TokenizerJsonHasTheFirstWord) {
    write("vocab.json", "broken");
    write("tokenizer.json", smallTokenizer().dump());
    EXPECT_EQ(ids(*Tokenizer::load(m_folder), "abc"), (Ids{5}));
}

TEST_F(TokenizerFolderTest, DamagedFilesAreNamed) {
    EXPECT_FALSE(hasTokenizerFiles(m_folder));
    write("vocab.json", kVocabulary);
    EXPECT_TRUE(hasTokenizerFiles(m_folder));
    expectRefused("merges.txt does not exist");
    write("merges.txt", "a b\nab\n");
    expectRefused("merges.txt: line 2");
    write("merges.txt", "a  b\n");
    expectRefused("merges.txt: line 1");
    write("merges.txt", "a z\n");
    expectRefused("needs the token \"z\"");
    write("merges.txt", "a b\n");
    write("vocab.json", R"({"a": 0, "a": 1})");
    expectRefused("twice");
    write("vocab.json", "[]");
    expectRefused("vocab.json");
    write("vocab.json", kVocabulary);
    for (const char* broken : {"7", R"({"x": "y"})", R"({"": 9})", R"([{"id": 9}])", R"([7])", R"({"x": 9, "y": 9})", "[", "[}"}) {
        write("added_tokens.json", broken);
        expectRefused("added_tokens.json");
    }
    fs::remove(m_folder / "added_tokens.json");
    for (const char* broken : {"7", R"({"added_tokens_decoder": 7})", R"({"added_tokens_decoder": {"x": {"content": "y"}}})", R"({"added_tokens_decoder": {"9": 7}})",
                               R"({"added_tokens_decoder": {"99999999999999999999": {"content": "y"}}})"}) {
        write("tokenizer_config.json", broken);
        expectRefused("tokenizer_config.json");
    }
}

TEST_F(TokenizerFolderTest, TheRealDataGivesTheSameIdsInAllThreeForms) {
    const fs::path bundled = KERNELSCOPE_BUNDLED_TOKENIZER;
    const std::string merges = readFile(bundled / "merges.txt");
    json document = smallTokenizer();
    document["model"]["vocab"] = json::parse(readFile(bundled / "vocab.json"));
    document["added_tokens"] = json::parse(readFile(bundled / "added_tokens.json"));
    document["pre_tokenizer"] = json::parse(
        R"x({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
            "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}]})x");
    json strings = json::array(), pairs = json::array();
    for (std::size_t at = 0; at < merges.size();) {
        const std::string line = merges.substr(at, merges.find('\n', at) - at);
        at += line.size() + 1;
        if (line.empty()) continue;
        strings.push_back(line);
        pairs.push_back({line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1)});
    }
    const std::string text = "<|im_start|>user\nWie schnell läuft 模型 Qwen2.5 🚀 ?<|im_end|>\n    return x == 3;\n";
    for (const json& form : {strings, pairs}) {
        document["model"]["merges"] = form;
        const Result<Tokenizer> tokenizer = tokenizerFrom(document);
        ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
        EXPECT_EQ(ids(*tokenizer, text), ids(test::qwen(), text));
        EXPECT_EQ(tokenizer->tokenCount(), 151665);
    }
}

}  // namespace
}  // namespace kernelscope
