#pragma once
// Reads a tokenizer from its files, in each of the forms in which they are published.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/bpe.h"
#include "core/model/pre_tokenizer.h"
#include "core/model/tokenizer.h"
#include "core/records/result.h"

namespace kernelscope {

struct TokenizerData {
    BpeData bpe;
    std::vector<AddedToken> added;  ///< by id
    Normaliser normaliser;
    PreTokenizer preTokenizer;
    std::vector<std::filesystem::path> files;
};

/// A folder has a tokenizer when it holds tokenizer.json, or vocab.json or merges.txt.
bool hasTokenizerFiles(const std::filesystem::path& folder);

/// Errors: badInput, see Tokenizer::load.
Result<TokenizerData> readTokenizerFiles(const std::filesystem::path& folder);

/// The parts, for tests and fuzzing. `text` is a file's content.
Result<TokenizerData> parseTokenizerJson(std::string_view text);
Result<TokenizerData> parseVocabularyAndMerges(std::string_view vocabulary, std::string_view merges);
/// added_tokens.json: {content: id}, or a list of {id, content, special}.
Result<std::vector<AddedToken>> parseAddedTokens(std::string_view text);
/// tokenizer_config.json: its added_tokens_decoder.
Result<std::vector<AddedToken>> parseTokenizerConfig(std::string_view text);

}  // namespace kernelscope
