#pragma once
// The bundled tokenizer, loaded once for all tests, and a small one that can be read at a glance.

#include <string>

#include <gtest/gtest.h>

#include "core/model/tokenizer.h"
#include "core/model/tokenizer_files.h"

namespace kernelscope::test {

inline const Tokenizer& qwen() {
    static const Tokenizer tokenizer = [] {
        Result<Tokenizer> loaded = Tokenizer::load(KERNELSCOPE_BUNDLED_TOKENIZER);
        EXPECT_TRUE(loaded.ok()) << loaded.error().message;
        return std::move(*loaded);
    }();
    return tokenizer;
}

using Ids = std::vector<std::int64_t>;

inline Ids ids(const Tokenizer& tokenizer, std::string_view text) {
    const Result<Ids> encoded = tokenizer.encode(text);
    EXPECT_TRUE(encoded.ok()) << encoded.error().message;
    return encoded.ok() ? *encoded : Ids();
}

/// tokenizer.json of a vocabulary a, b, c, space, "ab", "abc", " a", with one special and one ordinary added token.
/// `changes` replaces top-level keys or keys of the model.
inline nlohmann::json smallTokenizer() {
    return nlohmann::json::parse(R"({
        "added_tokens": [{"id": 7, "content": "<s>", "special": true}, {"id": 8, "content": "<t>", "special": false}],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "Ġ": 3, "ab": 4, "abc": 5, "Ġa": 6},
                  "merges": ["a b", "ab c", "Ġ a"]}})");
}

inline Result<Tokenizer> tokenizerFrom(const nlohmann::json& document) {
    Result<TokenizerData> data = parseTokenizerJson(document.dump());
    if (!data) return data.error();
    return Tokenizer::make(std::move(*data));
}

}  // namespace kernelscope::test
