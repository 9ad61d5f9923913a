#include "core/records/utf8.h"

#include <random>

#include <gtest/gtest.h>

#include "core/model/byte_alphabet.h"

namespace kernelscope {
namespace {

TEST(Utf8, KnowsWholeCharacters) {
    EXPECT_EQ(characterLength("a"), 1U);
    EXPECT_EQ(characterLength("é"), 2U);
    EXPECT_EQ(characterLength("模"), 3U);
    EXPECT_EQ(characterLength("🚀"), 4U);
    EXPECT_EQ(characterLength(""), 0U);
}

TEST(Utf8, RefusesOverlongSurrogateAndTooLargeForms) {
    for (const char* broken : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xFF", "\xE6\xA8"}) {
        EXPECT_EQ(characterLength(broken), 0U);
        EXPECT_EQ(validPrefix(std::string("ok") + broken), 2U);
    }
}

TEST(Utf8Stream, HoldsBackPartsOfACharacter) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
    EXPECT_EQ(stream.push("\x9A"), "");
    EXPECT_EQ(stream.push("\x80!"), "🚀!");
    EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, ReplacesWhatNeverBecomesACharacter) {
    // One replacement for each longest beginning of a character, as the Unicode standard recommends.
    EXPECT_EQ(validUtf8("a\x80z"), "a\uFFFDz");
    EXPECT_EQ(validUtf8("\xF0\x9F\x9A"), "\uFFFD");
    EXPECT_EQ(validUtf8("\xF0\x9F" "a"), "\uFFFD" "a");
    EXPECT_EQ(validUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(validUtf8("\xC3"), "\uFFFD");
}

TEST(Utf8Stream, DoesNotDependOnHowTheBytesAreCut) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        std::string bytes;
        for (int i = 0; i < 40; ++i) {
            constexpr std::string_view kParts[] = {"a", "é", "模", "🚀", "\x80", "\xF0", "\x9F", "\xE6", "\xA8", "\xFF"};
            bytes += kParts[random() % std::size(kParts)];
        }
        Utf8Stream stream;
        std::string pieces;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t size = std::min<std::size_t>(1 + random() % 3, bytes.size() - at);
            const std::string piece = stream.push(std::string_view(bytes).substr(at, size));
            EXPECT_EQ(validPrefix(piece), piece.size());
            pieces += piece;
            at += size;
        }
        pieces += stream.finish();
        EXPECT_EQ(pieces, validUtf8(bytes));
    }
}

TEST(ByteAlphabet, SpellsEveryByteAndReadsItBack) {
    for (unsigned byte = 0; byte < 256; ++byte) {
        const std::string spelling = spellingOfByte(static_cast<unsigned char>(byte));
        EXPECT_EQ(validPrefix(spelling), spelling.size());
        EXPECT_EQ(bytesOfSpelling(spelling), std::string(1, static_cast<char>(byte)));
    }
    EXPECT_EQ(bytesOfSpelling("ĠHello"), " Hello");
    EXPECT_EQ(bytesOfSpelling("a b"), std::nullopt);
    EXPECT_EQ(bytesOfSpelling("模"), std::nullopt);
}

}  // namespace
}  // namespace kernelscope
