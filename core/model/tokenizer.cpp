#include "core/model/tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "core/model/files.h"
#include "core/model/json_text.h"
#include "core/model/resources.h"
#include "core/model/tokenizer_files.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

/// Finds added tokens in a text: the leftmost, of several at one place the longest.
class AddedFinder {
public:
    void add(std::string content, std::int64_t id) {
        auto& bucket = m_byFirst[static_cast<unsigned char>(content[0])];
        bucket.emplace_back(std::move(content), id);
        std::sort(bucket.begin(), bucket.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
        m_empty = false;
    }
    struct Found {
        std::size_t place, size;
        std::int64_t id;
    };
    [[nodiscard]] std::optional<Found> find(std::string_view text, std::size_t from) const {
        if (m_empty) return std::nullopt;
        for (std::size_t place = from; place < text.size(); ++place) {
            for (const auto& [content, id] : m_byFirst[static_cast<unsigned char>(text[place])]) {
                if (text.compare(place, content.size(), content) == 0) return Found{place, content.size(), id};
            }
        }
        return std::nullopt;
    }
    /// Calls part(text) for what lies between tokens and token(id) for each token, in order.
    template <typename Part, typename TokenCall>
    Result<void> cut(std::string_view text, Part&& part, TokenCall&& token) const {
        std::size_t from = 0;
        while (from < text.size()) {
            const std::optional<Found> found = find(text, from);
            const std::size_t end = found ? found->place : text.size();
            if (end > from) {
                if (Result<void> done = part(text.substr(from, end - from)); !done) return done;
            }
            if (!found) break;
            token(found->id);
            from = found->place + found->size;
        }
        return {};
    }

private:
    std::array<std::vector<std::pair<std::string, std::int64_t>>, 256> m_byFirst;
    bool m_empty = true;
};

}  // namespace

struct Tokenizer::Impl {
    Bpe bpe;
    Normaliser normaliser;
    PreTokenizer preTokenizer;
    std::vector<AddedToken> added;
    std::unordered_map<std::int64_t, std::size_t> addedById;
    AddedFinder rawFinder, normalisedFinder;
    std::vector<fs::path> files;
    std::int64_t end = 0;
    std::int64_t count = 0;

    [[nodiscard]] const AddedToken* findAdded(std::int64_t id) const {
        const auto found = addedById.find(id);
        return found == addedById.end() ? nullptr : &added[found->second];
    }

    Result<void> encodeValid(std::string_view text, std::vector<std::int64_t>& ids) const {
        std::string normalised;
        if (normaliser.changes(text)) {
            Result<std::string> changed = normaliser.apply(text);
            if (!changed) return changed.error();
            normalised = std::move(*changed);
            text = normalised;
        }
        return normalisedFinder.cut(
            text, [&](std::string_view part) { return preTokenizer.split(part, [&](std::string_view piece) { return bpe.encode(piece, ids); }); },
            [&](std::int64_t id) { ids.push_back(id); });
    }

    /// What is not UTF-8 becomes pieces of its own, so that nothing behind it is disturbed and decoding gives it back.
    Result<void> encodeBytes(std::string_view text, std::vector<std::int64_t>& ids) const {
        while (!text.empty()) {
            const std::size_t valid = validPrefix(text);
            if (valid > 0) {
                if (Result<void> done = encodeValid(text.substr(0, valid), ids); !done) return done;
                text.remove_prefix(valid);
            }
            std::size_t broken = 0;
            while (broken < text.size() && characterLength(text.substr(broken)) == 0) ++broken;
            if (broken > 0) {
                if (Result<void> done = bpe.encode(text.substr(0, broken), ids); !done) return done;
                text.remove_prefix(broken);
            }
        }
        return {};
    }
};

Result<Tokenizer> Tokenizer::load(const fs::path& folder) {
    Result<TokenizerData> data = readTokenizerFiles(folder);
    if (!data) return data.error();
    return make(std::move(*data));
}

Result<Tokenizer> Tokenizer::make(TokenizerData data) {
    auto impl = std::make_shared<Impl>();
    Result<Bpe> bpe = Bpe::make(data.bpe);
    if (!bpe) return bpe.error();
    impl->bpe = std::move(*bpe);
    impl->normaliser = std::move(data.normaliser);
    impl->preTokenizer = std::move(data.preTokenizer);
    impl->added = std::move(data.added);
    impl->files = std::move(data.files);
    impl->end = impl->bpe.end();
    impl->count = impl->bpe.size();
    for (std::size_t i = 0; i < impl->added.size(); ++i) {
        const AddedToken& token = impl->added[i];
        const bool also = impl->bpe.contains(token.id);
        if (also && impl->bpe.bytesOf(token.id) != token.content) {
            return makeError(ErrorCode::badInput,
                             fmt::format("the id {} stands for the added token {} and for another token of the vocabulary", token.id, shown(token.content)),
                             "Fetch the tokenizer's files again; they may be damaged or not belong together.");
        }
        impl->addedById.emplace(token.id, i);
        impl->end = std::max(impl->end, token.id + 1);
        impl->count += also ? 0 : 1;
        if (!token.normalized) {
            impl->rawFinder.add(token.content, token.id);
            continue;
        }
        const Result<std::string> content = impl->normaliser.apply(token.content);
        if (!content) return content.error();
        if (!content->empty()) impl->normalisedFinder.add(*content, token.id);
    }
    return Tokenizer(std::move(impl));
}

Result<std::vector<std::int64_t>> Tokenizer::encode(std::string_view text) const {
    std::vector<std::int64_t> ids;
    const Result<void> done = m_impl->rawFinder.cut(
        text, [&](std::string_view part) { return m_impl->encodeBytes(part, ids); }, [&](std::int64_t id) { ids.push_back(id); });
    if (!done) return done.error();
    return ids;
}

std::string Tokenizer::decode(std::span<const std::int64_t> ids, SpecialTokens special) const {
    std::string bytes;
    for (const std::int64_t id : ids) {
        if (special == SpecialTokens::keep || !isSpecial(id)) bytes.append(tokenBytes(id));
    }
    return validUtf8(bytes);
}

std::string Tokenizer::tokenText(std::int64_t id) const { return validUtf8(tokenBytes(id)); }

std::string_view Tokenizer::tokenBytes(std::int64_t id) const {
    const AddedToken* added = m_impl->findAdded(id);
    return added ? std::string_view(added->content) : m_impl->bpe.bytesOf(id);
}

bool Tokenizer::contains(std::int64_t id) const { return m_impl->findAdded(id) || m_impl->bpe.contains(id); }

bool Tokenizer::isSpecial(std::int64_t id) const {
    const AddedToken* added = m_impl->findAdded(id);
    return added && added->special;
}

std::int64_t Tokenizer::end() const { return m_impl->end; }
std::int64_t Tokenizer::tokenCount() const { return m_impl->count; }
std::span<const AddedToken> Tokenizer::addedTokens() const { return m_impl->added; }
const std::vector<fs::path>& Tokenizer::files() const { return m_impl->files; }

std::optional<std::int64_t> Tokenizer::idOfAdded(std::string_view content) const {
    for (const AddedToken& token : m_impl->added) {
        if (token.content == content) return token.id;
    }
    return std::nullopt;
}

std::string StreamingDecoder::push(std::int64_t id) {
    if (m_special == SpecialTokens::drop && m_tokenizer.isSpecial(id)) return {};
    return m_stream.push(m_tokenizer.tokenBytes(id));
}

Result<std::optional<fs::path>> tokenizerFolder(const ModelSource& source) {
    if (!source.preset) {
        if (hasTokenizerFiles(source.folder)) return std::optional<fs::path>(source.folder);
        return std::optional<fs::path>();
    }
    Result<fs::path> bundled = findResource("tokenizer/qwen2.5");
    if (!bundled) return bundled.error();
    return std::optional<fs::path>(std::move(*bundled));
}

Result<std::optional<Tokenizer>> loadTokenizer(const ModelSource& source) {
    const Result<std::optional<fs::path>> folder = tokenizerFolder(source);
    if (!folder) return folder.error();
    if (!*folder) return std::optional<Tokenizer>();
    Result<Tokenizer> tokenizer = Tokenizer::load(**folder);
    if (!tokenizer) return tokenizer.error();
    return std::optional<Tokenizer>(std::move(*tokenizer));
}

}  // namespace kernelscope
