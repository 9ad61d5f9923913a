// Any bytes as a tokenizer's files: refused in words, or a tokenizer that encodes and decodes without a crash.
// The first byte chooses the file.

#include <cstdint>

#include "core/model/chat.h"
#include "core/model/tokenizer_files.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

namespace {

void use(Result<TokenizerData> data) {
    if (!data) {
        FUZZ_CHECK(!data.error().message.empty() && !data.error().advice.empty());
        return;
    }
    const Result<Tokenizer> tokenizer = Tokenizer::make(std::move(*data));
    if (!tokenizer) return;
    const auto ids = tokenizer->encode("ab <s> \xC3\xA9\xFF 12");
    if (!ids) return;
    for (const std::int64_t id : *ids) FUZZ_CHECK(tokenizer->contains(id));
    FUZZ_CHECK(validPrefix(tokenizer->decode(*ids)) == tokenizer->decode(*ids).size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 6) {
        case 0: use(parseTokenizerJson(text)); break;
        case 1: use(parseVocabularyAndMerges(text, "a b\n")); break;
        case 2: use(parseVocabularyAndMerges(R"({"a": 0, "b": 1, "ab": 2, "abb": 3})", text)); break;
        case 3: (void)parseAddedTokens(text); break;
        case 4: (void)parseTokenizerConfig(text); break;
        default: (void)ChatTemplate::recognise(text); break;
    }
    return 0;
}
