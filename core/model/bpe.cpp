#include "core/model/bpe.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/byte_alphabet.h"
#include "core/model/json_text.h"

namespace kernelscope {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr std::int64_t kMostGap = 16;
constexpr std::size_t kShortPiece = 48;  // up to here looking through all pairs beats a heap
constexpr const char* kFetchAgain = "Fetch the tokenizer's files again; they may be damaged or not belong together.";

std::uint64_t pairOf(TokenId left, TokenId right) { return (std::uint64_t{left} << 32U) | right; }

/// Mixes the bits so that neighbouring ids land far apart (the finaliser of the splitmix generator).
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

}  // namespace

Result<Bpe> Bpe::make(const BpeData& data) {
    Bpe bpe;
    bpe.m_byteToken.fill(kNone);
    std::unordered_map<std::string_view, TokenId> idOf;  // by spelling
    idOf.reserve(data.vocabulary.size() * 2);
    std::int64_t end = 0;
    for (const auto& [spelling, id] : data.vocabulary) {
        if (id < 0 || id >= kMostTokens) {
            return makeError(ErrorCode::badInput, fmt::format("the vocabulary gives {} the id {}", shown(spelling), id), kFetchAgain);
        }
        end = std::max(end, id + 1);
    }
    // Ids are places in a list: a few tokens with an id in the millions would make a list of hundreds of megabytes.
    if (const auto most = static_cast<std::int64_t>(data.vocabulary.size()) * kMostGap + 65'536; end > most) {
        return makeError(ErrorCode::badInput, fmt::format("a vocabulary of {} tokens gives ids up to {}", data.vocabulary.size(), end - 1), kFetchAgain);
    }
    bpe.m_tokens.resize(static_cast<std::size_t>(end));
    bpe.m_present.resize(static_cast<std::size_t>(end));
    for (const auto& [spelling, id] : data.vocabulary) {
        const auto index = static_cast<std::size_t>(id);
        if (bpe.m_present[index]) {
            return makeError(ErrorCode::badInput, fmt::format("the vocabulary gives the id {} to {} and to another token", id, shown(spelling)), kFetchAgain);
        }
        const auto token = static_cast<TokenId>(id);
        std::optional<std::string> bytes = bytesOfSpelling(spelling);
        if (bytes && bytes->size() == 1) bpe.m_byteToken[static_cast<unsigned char>((*bytes)[0])] = token;
        bpe.m_tokens[index] = bytes ? std::move(*bytes) : spelling;
        bpe.m_present[index] = true;
        ++bpe.m_count;
        if (!idOf.emplace(spelling, token).second) {
            return makeError(ErrorCode::badInput, fmt::format("the vocabulary holds the token {} twice", shown(spelling)), kFetchAgain);
        }
    }

    std::size_t places = 16;
    while (places < data.merges.size() * 2) places *= 2;
    bpe.m_merges.resize(places);
    std::string joined;
    for (std::size_t rank = 0; rank < data.merges.size(); ++rank) {
        const auto& [left, right] = data.merges[rank];
        joined.assign(left).append(right);
        const auto leftId = idOf.find(left), rightId = idOf.find(right), result = idOf.find(joined);
        if (leftId == idOf.end() || rightId == idOf.end() || result == idOf.end()) {
            const std::string& absent = leftId == idOf.end() ? left : rightId == idOf.end() ? right : joined;
            return makeError(ErrorCode::badInput,
                             fmt::format("merge {} ({} {}) needs the token {}, which the vocabulary lacks", rank + 1, shown(left), shown(right), shown(absent)),
                             kFetchAgain);
        }
        bpe.insertMerge({pairOf(leftId->second, rightId->second), static_cast<std::uint32_t>(rank), result->second});
    }
    if (data.ignoreMerges) {
        for (std::size_t id = 0; id < bpe.m_tokens.size(); ++id) {
            if (bpe.m_present[id]) bpe.m_whole.emplace(bpe.m_tokens[id], static_cast<TokenId>(id));
        }
    }
    return bpe;
}

void Bpe::insertMerge(const Merge& merge) {
    std::size_t place = mixed(merge.pair) & (m_merges.size() - 1);
    while (m_merges[place].pair != kNoPair) {
        if (m_merges[place].pair == merge.pair) return;  // listed twice: the first rank holds
        place = (place + 1) & (m_merges.size() - 1);
    }
    m_merges[place] = merge;
}

const Bpe::Merge* Bpe::merge(TokenId left, TokenId right) const {
    const std::uint64_t pair = pairOf(left, right);
    std::size_t place = mixed(pair) & (m_merges.size() - 1);
    while (m_merges[place].pair != kNoPair) {
        if (m_merges[place].pair == pair) return &m_merges[place];
        place = (place + 1) & (m_merges.size() - 1);
    }
    return nullptr;
}

Result<void> Bpe::encode(std::string_view piece, std::vector<std::int64_t>& ids) const {
    if (!m_whole.empty()) {
        if (const auto found = m_whole.find(piece); found != m_whole.end()) {
            ids.push_back(found->second);
            return {};
        }
    }
    std::vector<TokenId> symbols;
    symbols.reserve(piece.size());
    for (const char c : piece) {
        const TokenId token = m_byteToken[static_cast<unsigned char>(c)];
        if (token == kNone) {
            return makeError(ErrorCode::badInput,
                             fmt::format("the vocabulary has no token for the byte 0x{:02X}, which the text needs", static_cast<unsigned char>(c)),
                             "Use a text without it, or give token ids.");
        }
        symbols.push_back(token);
    }
    if (symbols.size() <= kShortPiece) mergeShort(symbols);
    else mergeLong(symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
    return {};
}

void Bpe::mergeShort(std::vector<TokenId>& symbols) const {
    std::array<const Merge*, kShortPiece> merges{};  // of each symbol with the next
    std::size_t count = symbols.size();
    for (std::size_t i = 0; i + 1 < count; ++i) merges[i] = merge(symbols[i], symbols[i + 1]);
    while (count > 1) {
        std::size_t best = count;
        for (std::size_t i = 0; i + 1 < count; ++i) {
            if (merges[i] && (best == count || merges[i]->rank < merges[best]->rank)) best = i;
        }
        if (best == count) break;
        symbols[best] = merges[best]->result;
        --count;
        for (std::size_t i = best + 1; i < count; ++i) {
            symbols[i] = symbols[i + 1];
            merges[i] = merges[i + 1];
        }
        merges[best] = best + 1 < count ? merge(symbols[best], symbols[best + 1]) : nullptr;
        if (best > 0) merges[best - 1] = merge(symbols[best - 1], symbols[best]);
    }
    symbols.resize(count);
}

/// The same result in n log n, for a run of a million letters: a linked list, and a heap of possible merges in which
/// outdated ones are recognised when they come up.
void Bpe::mergeLong(std::vector<TokenId>& symbols) const {
    struct Candidate {
        std::uint32_t rank;
        std::uint32_t place;
        std::uint64_t pair;
        TokenId result;
        bool operator>(const Candidate& other) const { return std::tie(rank, place) > std::tie(other.rank, other.place); }
    };
    const auto count = static_cast<std::uint32_t>(symbols.size());
    std::vector<std::uint32_t> next(count), previous(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        next[i] = i + 1;
        previous[i] = i - 1;  // of the first: never used, since place 0 is checked
    }
    std::vector<Candidate> initial;
    const auto candidate = [&](std::uint32_t place, auto& target) {
        const std::uint32_t other = next[place];
        if (other >= count) return;
        const Merge* found = merge(symbols[place], symbols[other]);
        if (found) target({found->rank, place, found->pair, found->result});
    };
    const auto keep = [&](const Candidate& found) { initial.push_back(found); };
    for (std::uint32_t i = 0; i < count; ++i) candidate(i, keep);
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>(), std::move(initial));
    const auto push = [&](const Candidate& found) { heap.push(found); };

    while (!heap.empty()) {
        const Candidate best = heap.top();
        heap.pop();
        const std::uint32_t other = next[best.place];
        // A symbol that was merged away has become kNone, which is in no pair.
        if (other >= count || pairOf(symbols[best.place], symbols[other]) != best.pair) continue;
        symbols[best.place] = best.result;
        symbols[other] = kNone;
        next[best.place] = next[other];
        if (next[other] < count) previous[next[other]] = best.place;
        candidate(best.place, push);
        if (best.place > 0) candidate(previous[best.place], push);
    }
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i < count; i = next[i]) symbols[kept++] = symbols[i];
    symbols.resize(kept);
}

bool Bpe::contains(std::int64_t id) const { return id >= 0 && id < end() && m_present[static_cast<std::size_t>(id)]; }

std::string_view Bpe::bytesOf(std::int64_t id) const {
    return contains(id) ? std::string_view(m_tokens[static_cast<std::size_t>(id)]) : std::string_view();
}

}  // namespace kernelscope
