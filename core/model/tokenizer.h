#pragma once
// Text to token ids and back: the byte-level BPE tokenizers of the Qwen2 family.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config.h"
#include "core/records/utf8.h"
#include "core/records/result.h"

namespace kernelscope {

/// A token beside the vocabulary, matched in a text before anything else. Special ones are not shown.
struct AddedToken {
    std::int64_t id = 0;
    std::string content;
    bool special = false;
    bool normalized = false;  ///< matched in the normalised text, not in the raw one
};

enum class SpecialTokens { drop, keep };

struct TokenizerData;  // what its files hold: tokenizer_files.h

/// Immutable, cheap to copy, usable from many threads at once.
class Tokenizer {
public:
    /// tokenizer.json, else vocab.json and merges.txt (with added_tokens.json or tokenizer_config.json).
    /// Errors: badInput: files missing or damaged; a kind of tokenizer that is not implemented, named.
    static Result<Tokenizer> load(const std::filesystem::path& folder);

    /// From files that were already read. Errors: badInput: they contradict each other.
    static Result<Tokenizer> make(TokenizerData data);

    /// Added tokens in the text are recognised. Any bytes are taken: what is not UTF-8 is encoded byte by byte.
    /// Errors: badInput: the vocabulary lacks a byte the text needs; a pattern gave up on the text.
    [[nodiscard]] Result<std::vector<std::int64_t>> encode(std::string_view text) const;

    /// Valid UTF-8; broken characters become U+FFFD. Ids that are no tokens (padding) give nothing.
    [[nodiscard]] std::string decode(std::span<const std::int64_t> ids, SpecialTokens special = SpecialTokens::drop) const;

    /// One token as text: its own bytes as UTF-8 with U+FFFD for parts of a character, special tokens by name.
    [[nodiscard]] std::string tokenText(std::int64_t id) const;
    /// The raw bytes; empty when there is no such token.
    [[nodiscard]] std::string_view tokenBytes(std::int64_t id) const;

    [[nodiscard]] bool contains(std::int64_t id) const;
    [[nodiscard]] bool isSpecial(std::int64_t id) const;
    /// Highest id + 1. Rows of the model from here on are padding, which must never be emitted.
    [[nodiscard]] std::int64_t end() const;
    [[nodiscard]] std::int64_t tokenCount() const;  ///< added ones included
    [[nodiscard]] std::span<const AddedToken> addedTokens() const;
    [[nodiscard]] std::optional<std::int64_t> idOfAdded(std::string_view content) const;
    [[nodiscard]] const std::vector<std::filesystem::path>& files() const;  ///< it was read from

private:
    struct Impl;
    explicit Tokenizer(std::shared_ptr<const Impl> impl) : m_impl(std::move(impl)) {}
    std::shared_ptr<const Impl> m_impl;
};

/// Turns ids into text as they come, whole characters only. All pieces together are decode() of all ids.
class StreamingDecoder {
public:
    explicit StreamingDecoder(Tokenizer tokenizer, SpecialTokens special = SpecialTokens::drop) : m_tokenizer(std::move(tokenizer)), m_special(special) {}
    [[nodiscard]] std::string push(std::int64_t id);
    [[nodiscard]] std::string finish() { return m_stream.finish(); }  ///< what was still incomplete

private:
    Tokenizer m_tokenizer;
    SpecialTokens m_special;
    Utf8Stream m_stream;
};

/// Where a model's tokenizer is: the bundled one for a preset, the model's folder when it has one, else nothing
/// (token ids still work). Errors: environment, when the bundled one is not found.
Result<std::optional<std::filesystem::path>> tokenizerFolder(const ModelSource& source);

/// tokenizerFolder and load in one. Nothing: the model has no tokenizer.
Result<std::optional<Tokenizer>> loadTokenizer(const ModelSource& source);

}  // namespace kernelscope
