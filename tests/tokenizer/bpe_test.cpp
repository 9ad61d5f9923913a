#include "core/model/bpe.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

using Ids = std::vector<std::int64_t>;

/// The definition, word by word, however slow.
std::vector<std::string> mergedByDefinition(const BpeData& data, const std::string& piece) {
    std::vector<std::string> symbols;
    for (const char c : piece) symbols.emplace_back(1, c);
    for (;;) {
        std::size_t bestRank = data.merges.size(), bestPlace = 0;
        for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
            const auto found = std::find(data.merges.begin(), data.merges.end(), std::pair(symbols[i], symbols[i + 1]));
            const auto rank = static_cast<std::size_t>(found - data.merges.begin());
            if (rank < bestRank) {
                bestRank = rank;
                bestPlace = i;
            }
        }
        if (bestRank == data.merges.size()) return symbols;
        symbols[bestPlace] += symbols[bestPlace + 1];
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(bestPlace) + 1);
    }
}

/// Letters a to d and random merges of what is already there.
BpeData randomVocabulary(std::mt19937& random) {
    BpeData data;
    std::vector<std::string> tokens = {"a", "b", "c", "d"};
    while (data.merges.size() < 40) {
        const std::string left = tokens[random() % tokens.size()], right = tokens[random() % tokens.size()];
        const std::pair<std::string, std::string> merge(left, right);
        if (left.size() + right.size() > 9 || std::find(data.merges.begin(), data.merges.end(), merge) != data.merges.end()) continue;
        data.merges.push_back(merge);
        if (std::find(tokens.begin(), tokens.end(), left + right) == tokens.end()) tokens.push_back(left + right);
    }
    for (std::size_t id = 0; id < tokens.size(); ++id) data.vocabulary.emplace_back(tokens[id], static_cast<std::int64_t>(id));
    return data;
}

TEST(Bpe, FollowsTheDefinitionForShortAndLongPieces) {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        const BpeData data = randomVocabulary(random);
        const Result<Bpe> bpe = Bpe::make(data);
        ASSERT_TRUE(bpe.ok()) << bpe.error().message;
        for (const std::size_t size : {1, 2, 3, 7, 20, 47, 48, 49, 50, 200}) {  // the two ways meet at 48
            std::string piece;
            while (piece.size() < size) piece.push_back(static_cast<char>('a' + random() % 4));
            Ids found;
            ASSERT_TRUE(bpe->encode(piece, found).ok());
            std::vector<std::string> words;
            for (const std::int64_t id : found) words.emplace_back(bpe->bytesOf(id));
            EXPECT_EQ(words, mergedByDefinition(data, piece)) << piece;
        }
    }
}

TEST(Bpe, AMissingByteIsNoErrorUntilItIsNeeded) {
    const Result<Bpe> bpe = Bpe::make({{{"a", 0}}, {}});
    ASSERT_TRUE(bpe.ok());
    Ids found;
    EXPECT_TRUE(bpe->encode("aaa", found).ok());
    const Result<void> failed = bpe->encode("ab", found);
    ASSERT_FALSE(failed.ok());
    EXPECT_NE(failed.error().message.find("0x62"), std::string::npos) << failed.error().message;
}

TEST(Bpe, IgnoringMergesTakesWholePiecesFirst) {
    BpeData data{{{"a", 0}, {"b", 1}, {"ab", 2}}, {}, true};
    Ids found;
    ASSERT_TRUE(Bpe::make(data)->encode("ab", found).ok());
    EXPECT_EQ(found, (Ids{2}));
    data.ignoreMerges = false;
    found.clear();
    ASSERT_TRUE(Bpe::make(data)->encode("ab", found).ok());
    EXPECT_EQ(found, (Ids{0, 1}));
}

TEST(Bpe, HolesInTheIdsAreNoTokens) {
    const Result<Bpe> bpe = Bpe::make({{{"a", 0}, {"b", 5}}, {}});
    ASSERT_TRUE(bpe.ok());
    EXPECT_TRUE(bpe->contains(5));
    EXPECT_FALSE(bpe->contains(3));
    EXPECT_EQ(bpe->end(), 6);
    EXPECT_EQ(bpe->size(), 2);
    EXPECT_EQ(bpe->bytesOf(3), "");
}

TEST(Bpe, RefusesWhatContradictsItself) {
    for (const auto& [data, says] : {
             std::pair(BpeData{{{"a", 0}, {"b", 0}}, {}}, "id 0"), std::pair(BpeData{{{"a", -1}}, {}}, "-1"), std::pair(BpeData{{{"a", 0}, {"a", 1}}, {}}, "\"a\" twice"),
             std::pair(BpeData{{{"a", std::int64_t{1} << 40}}, {}}, "1099511627776"), std::pair(BpeData{{{"a", 0}, {"b", 1}}, {{"a", "b"}}}, "needs the token \"ab\""),
             std::pair(BpeData{{{"a", 0}, {"ax", 1}}, {{"a", "x"}}}, "needs the token \"x\""),
         }) {
        const Result<Bpe> bpe = Bpe::make(data);
        ASSERT_FALSE(bpe.ok()) << says;
        EXPECT_NE(bpe.error().message.find(says), std::string::npos) << bpe.error().message;
    }
}

}  // namespace
}  // namespace kernelscope
