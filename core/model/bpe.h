#pragma once
// Byte-pair encoding of one piece of text: start from single bytes, and as long as a neighbouring pair has a merge, apply
// the one of lowest rank, the leftmost of equals.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

using TokenId = std::uint32_t;

/// What a vocabulary file holds, spelt in the byte alphabet.
struct BpeData {
    std::vector<std::pair<std::string, std::int64_t>> vocabulary;
    std::vector<std::pair<std::string, std::string>> merges;  ///< in order of rank
    bool ignoreMerges = false;  ///< a piece that is a token as a whole is that token
};

class Bpe {
public:
    /// Errors: badInput: an id or a token twice, an id negative or too large; a merge whose parts or result are no tokens.
    static Result<Bpe> make(const BpeData& data);

    /// Appends the piece's ids. Errors: badInput when the vocabulary lacks a single byte that the piece holds.
    Result<void> encode(std::string_view piece, std::vector<std::int64_t>& ids) const;

    /// The token's bytes; empty when there is no such token. (A spelling outside the alphabet stands for itself.)
    [[nodiscard]] std::string_view bytesOf(std::int64_t id) const;
    [[nodiscard]] bool contains(std::int64_t id) const;
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(m_count); }        ///< tokens
    [[nodiscard]] std::int64_t end() const { return static_cast<std::int64_t>(m_tokens.size()); }  ///< highest id + 1

private:
    struct Merge {
        std::uint64_t pair = kNoPair;
        std::uint32_t rank = 0;
        TokenId result = 0;
    };
    static constexpr std::uint64_t kNoPair = ~std::uint64_t{0};
    static constexpr TokenId kNone = ~TokenId{0};

    [[nodiscard]] const Merge* merge(TokenId left, TokenId right) const;
    void insertMerge(const Merge& merge);
    void mergeShort(std::vector<TokenId>& symbols) const;
    void mergeLong(std::vector<TokenId>& symbols) const;

    std::vector<std::string> m_tokens;  ///< bytes by id
    std::vector<bool> m_present;
    std::size_t m_count = 0;
    std::array<TokenId, 256> m_byteToken{};
    std::vector<Merge> m_merges;  ///< open addressing, a power of two long, at most half full
    std::unordered_map<std::string_view, TokenId> m_whole;  ///< only for ignoreMerges
};

}  // namespace kernelscope
