// Any bytes as a text: nothing is lost, nothing crashes, and streaming shows what decoding shows.

#include <cstdint>

#include <nlohmann/json.hpp>

#include "core/model/byte_alphabet.h"
#include "core/model/tokenizer_files.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

namespace {

/// All single bytes, a few merges, two added tokens, the family's pattern; composing or not.
Tokenizer make(bool compose) {
    TokenizerData data;
    for (int byte = 0; byte < 256; ++byte) data.bpe.vocabulary.emplace_back(spellingOfByte(static_cast<unsigned char>(byte)), byte);
    std::int64_t next = 256;
    for (const auto& [left, right] : {std::pair("a", "b"), std::pair("ab", "ab"), std::pair("abab", "c"), std::pair("Ġ", "Ġ"), std::pair("ĠĠ", "ĠĠ"), std::pair("Ġ", "a")}) {
        data.bpe.merges.emplace_back(left, right);
        data.bpe.vocabulary.emplace_back(std::string(left) + right, next++);
    }
    data.added = {{next, "<s>", true, false}, {next + 1, "\u00E9t\u00E9", false, true}};
    if (compose) data.normaliser = Normaliser::qwen();
    data.preTokenizer = std::move(*PreTokenizer::qwen());
    return std::move(*Tokenizer::make(std::move(data)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Tokenizer plain = make(false), composing = make(true);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto ids = plain.encode(text);
    FUZZ_CHECK(ids.ok());
    std::string back;
    StreamingDecoder decoder(plain);
    std::string shown;
    for (const std::int64_t id : *ids) {
        back += plain.tokenBytes(id);
        const std::string piece = decoder.push(id);
        FUZZ_CHECK(validPrefix(piece) == piece.size());
        shown += piece;
    }
    FUZZ_CHECK(back == text);
    FUZZ_CHECK(shown + decoder.finish() == plain.decode(*ids));

    const auto composed = composing.encode(text);
    FUZZ_CHECK(composed.ok());
    std::string once;
    for (const std::int64_t id : *composed) once += composing.tokenBytes(id);
    const auto again = composing.encode(once);  // composing twice changes nothing
    FUZZ_CHECK(again.ok());
    std::string twice;
    for (const std::int64_t id : *again) twice += composing.tokenBytes(id);
    FUZZ_CHECK(once == twice);
    return 0;
}
