#include "core/model/tokenizer_files.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/files.h"
#include "core/model/json_text.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr const char* kFetchAgain = "Fetch the tokenizer's files again; token ids work without a tokenizer.";
constexpr const char* kOtherTokenizer = "Only byte-level tokenizers in the way of the Qwen2 family are implemented; token ids work without a tokenizer.";

Error damaged(const std::string& words) { return makeError(ErrorCode::badInput, words, kFetchAgain); }
Error otherKind(const std::string& words) { return makeError(ErrorCode::badInput, "tokenizer.json: " + words, kOtherTokenizer); }

/// A member that is there and not null.
const json* member(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string textMember(const json& object, const char* key) {
    const json* found = member(object, key);
    return found && found->is_string() ? found->get<std::string>() : std::string();
}

bool flagMember(const json& object, const char* key) {
    const json* found = member(object, key);
    return found && found->is_boolean() && found->get<bool>();
}

std::optional<std::int64_t> tokenId(const json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= static_cast<std::uint64_t>(kMostTokens)) return std::nullopt;
    return value.get<std::int64_t>();
}

Result<void> readVocabulary(const json& vocabulary, const std::string& where, BpeData& data) {
    if (!vocabulary.is_object() || vocabulary.empty()) return damaged(fmt::format("{} holds no vocabulary {{token: id}}", where));
    data.vocabulary.reserve(vocabulary.size());
    for (const auto& [spelling, id] : vocabulary.items()) {
        const std::optional<std::int64_t> number = tokenId(id);
        if (!number) return damaged(fmt::format("{} gives the token {} the id {}", where, shown(spelling), shown(id)));
        data.vocabulary.emplace_back(spelling, *number);
    }
    return {};
}

/// Takes a flat {token: id} straight from the parser: building a document of 150,000 entries first would double the time
/// a preset needs to be ready. Anything unexpected stops it; the careful way then finds the words.
class VocabularyParser final : public nlohmann::json_sax<json> {
public:
    explicit VocabularyParser(BpeData& data) : m_data(data) {}
    bool number_unsigned(number_unsigned_t value) override {
        if (!m_inside || value >= static_cast<std::uint64_t>(kMostTokens)) return false;
        m_data.vocabulary.emplace_back(std::move(m_key), static_cast<std::int64_t>(value));
        return true;
    }
    bool key(string_t& name) override {
        m_key = std::move(name);
        return true;
    }
    bool start_object(std::size_t) override { return !std::exchange(m_inside, true); }
    bool end_object() override { return true; }
    bool null() override { return false; }
    bool boolean(bool) override { return false; }
    bool number_integer(number_integer_t) override { return false; }
    bool number_float(number_float_t, const string_t&) override { return false; }
    bool string(string_t&) override { return false; }
    bool binary(binary_t&) override { return false; }
    bool start_array(std::size_t) override { return false; }
    bool end_array() override { return false; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    BpeData& m_data;
    std::string m_key;
    bool m_inside = false;
};

Result<void> parseVocabulary(std::string_view text, BpeData& data) {
    VocabularyParser parser(data);
    if (json::sax_parse(text.begin(), text.end(), &parser) && !data.vocabulary.empty()) return {};
    data.vocabulary.clear();
    const Result<json> document = parseJsonObject(text, "vocab.json");
    if (!document) return document.error();
    return readVocabulary(*document, "vocab.json", data);
}

/// "a b"; spaces inside tokens are spelt otherwise, so there is exactly one.
std::optional<std::pair<std::string, std::string>> mergeOf(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == line.size() || line.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
    return std::pair(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
}

Result<void> readMerges(const json& merges, BpeData& data) {
    if (!merges.is_array()) return damaged(fmt::format("tokenizer.json: merges are {}, not a list", kindOf(merges)));
    data.merges.reserve(merges.size());
    for (const json& merge : merges) {
        std::optional<std::pair<std::string, std::string>> pair;
        if (merge.is_string()) {
            pair = mergeOf(merge.get_ref<const std::string&>());
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
            pair.emplace(merge[0].get<std::string>(), merge[1].get<std::string>());
        }
        if (!pair) return damaged(fmt::format("tokenizer.json: merge {} is {}, not two tokens", data.merges.size() + 1, shown(merge)));
        data.merges.push_back(std::move(*pair));
    }
    return {};
}

Result<AddedToken> readAddedToken(const json& description, std::optional<std::int64_t> id, const std::string& where) {
    if (!description.is_object()) return damaged(fmt::format("{}: an added token is {}, not an object", where, shown(description)));
    AddedToken token;
    if (const json* given = member(description, "id"); given && !id) id = tokenId(*given);
    token.content = textMember(description, "content");
    if (!id || token.content.empty()) return damaged(fmt::format("{}: an added token lacks its id or content: {}", where, shown(description)));
    token.id = *id;
    token.special = flagMember(description, "special");
    token.normalized = flagMember(description, "normalized");
    for (const char* key : {"lstrip", "rstrip", "single_word"}) {
        if (flagMember(description, key)) {
            return makeError(ErrorCode::badInput, fmt::format("{}: the added token {} has {}, which is not implemented", where, shown(token.content), key), kOtherTokenizer);
        }
    }
    return token;
}

Result<void> checkAdded(std::vector<AddedToken>& added, const std::string& where) {
    std::sort(added.begin(), added.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < added.size(); ++i) {
        if (added[i].id == added[i - 1].id) {
            return damaged(fmt::format("{}: the id {} stands for {} and for {}", where, added[i].id, shown(added[i - 1].content), shown(added[i].content)));
        }
    }
    std::vector<std::string_view> contents;
    for (const AddedToken& token : added) contents.push_back(token.content);
    std::sort(contents.begin(), contents.end());
    const auto twice = std::adjacent_find(contents.begin(), contents.end());
    if (twice != contents.end()) return damaged(fmt::format("{}: the added token {} stands there twice", where, shown(std::string(*twice))));
    return {};
}

/// What a decoder or post-processor may be: ByteLevel does nothing that we do not do anyway.
Result<void> checkByteLevel(const json& document, const char* key, const char* list) {
    const json* part = member(document, key);
    if (!part) return {};
    const std::string type = part->is_object() ? textMember(*part, "type") : std::string();
    if (type == "ByteLevel") return {};
    if (type == "Sequence" && member(*part, list) && (*part)[list].is_array()) {
        for (const json& inner : (*part)[list]) {
            if (!inner.is_object() || textMember(inner, "type") != "ByteLevel") return otherKind(fmt::format("the {} {} is not implemented", key, shown(inner)));
        }
        return {};
    }
    return otherKind(fmt::format("the {} {} is not implemented", key, shown(*part)));
}

Result<void> checkModel(const json& model) {
    const std::string type = textMember(model, "type");
    if (!type.empty() && type != "BPE") return otherKind(fmt::format("the model type {} is not implemented", shown(type)));
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        if (!textMember(model, key).empty()) return otherKind(fmt::format("{} is not implemented", key));
    }
    if (flagMember(model, "byte_fallback")) return otherKind("byte_fallback is not implemented");
    if (const json* dropout = member(model, "dropout"); dropout && *dropout != 0.0) return otherKind("dropout is not implemented");
    if (!member(model, "vocab") || !member(model, "merges")) return damaged("tokenizer.json: the model lacks vocab or merges");
    return {};
}

}  // namespace

Result<TokenizerData> parseTokenizerJson(std::string_view text) {
    const Result<json> document = parseJsonObject(text, "tokenizer.json");
    if (!document) return document.error();
    const json* model = member(*document, "model");
    if (!model || !model->is_object()) return damaged("tokenizer.json: model is missing");
    if (Result<void> checked = checkModel(*model); !checked) return checked.error();
    for (const auto& [key, list] : {std::pair("decoder", "decoders"), std::pair("post_processor", "processors")}) {
        if (Result<void> checked = checkByteLevel(*document, key, list); !checked) return checked.error();
    }

    TokenizerData data;
    const json nothing;
    const json* part = member(*document, "normalizer");
    Result<Normaliser> normaliser = Normaliser::fromJson(part ? *part : nothing);
    if (!normaliser) return normaliser.error();
    data.normaliser = std::move(*normaliser);
    part = member(*document, "pre_tokenizer");
    if (!part) return otherKind("there is no pre_tokenizer, so this is no byte-level tokenizer");
    Result<PreTokenizer> preTokenizer = PreTokenizer::fromJson(*part);
    if (!preTokenizer) return preTokenizer.error();
    data.preTokenizer = std::move(*preTokenizer);

    if (Result<void> read = readVocabulary((*model)["vocab"], "tokenizer.json", data.bpe); !read) return read.error();
    if (Result<void> read = readMerges((*model)["merges"], data.bpe); !read) return read.error();
    data.bpe.ignoreMerges = flagMember(*model, "ignore_merges");
    if (const json* added = member(*document, "added_tokens")) {
        if (!added->is_array()) return damaged(fmt::format("tokenizer.json: added_tokens are {}, not a list", kindOf(*added)));
        for (const json& description : *added) {
            Result<AddedToken> token = readAddedToken(description, std::nullopt, "tokenizer.json");
            if (!token) return token.error();
            data.added.push_back(std::move(*token));
        }
    }
    if (Result<void> checked = checkAdded(data.added, "tokenizer.json"); !checked) return checked.error();
    return data;
}

Result<TokenizerData> parseVocabularyAndMerges(std::string_view vocabulary, std::string_view merges) {
    TokenizerData data;
    data.normaliser = Normaliser::qwen();
    Result<PreTokenizer> preTokenizer = PreTokenizer::qwen();
    if (!preTokenizer) return preTokenizer.error();
    data.preTokenizer = std::move(*preTokenizer);
    if (Result<void> read = parseVocabulary(vocabulary, data.bpe); !read) return read.error();
    std::size_t number = 0;
    while (!merges.empty()) {
        const std::size_t end = merges.find('\n');
        std::string_view line = merges.substr(0, end);
        merges.remove_prefix(end == std::string_view::npos ? merges.size() : end + 1);
        ++number;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line.empty() || (number == 1 && line.rfind("#version", 0) == 0)) continue;
        std::optional<std::pair<std::string, std::string>> merge = mergeOf(line);
        if (!merge) return damaged(fmt::format("merges.txt: line {} is {}, not two tokens", number, shown(std::string(line))));
        data.bpe.merges.push_back(std::move(*merge));
    }
    return data;
}

Result<std::vector<AddedToken>> parseAddedTokens(std::string_view text) {
    constexpr const char* kName = "added_tokens.json";
    std::vector<AddedToken> added;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '[') {  // our own form; parsed as an object for its checks
        const Result<json> document = parseJsonObject(fmt::format("{{\"added_tokens\":{}}}", text), kName);
        if (!document) return document.error();
        for (const json& description : (*document)["added_tokens"]) {
            Result<AddedToken> token = readAddedToken(description, std::nullopt, kName);
            if (!token) return token.error();
            added.push_back(std::move(*token));
        }
    } else {
        const Result<json> document = parseJsonObject(text, kName);
        if (!document) return document.error();
        for (const auto& [content, id] : document->items()) {
            const std::optional<std::int64_t> number = tokenId(id);
            if (!number || content.empty()) return damaged(fmt::format("{}: the token {} has the id {}", kName, shown(content), shown(id)));
            // This form does not say what is special; by custom such tokens are written <|so|>.
            added.push_back({*number, content, content.rfind("<|", 0) == 0, false});
        }
    }
    if (Result<void> checked = checkAdded(added, kName); !checked) return checked.error();
    return added;
}

Result<std::vector<AddedToken>> parseTokenizerConfig(std::string_view text) {
    constexpr const char* kName = "tokenizer_config.json";
    const Result<json> document = parseJsonObject(text, kName);
    if (!document) return document.error();
    std::vector<AddedToken> added;
    const json* decoder = member(*document, "added_tokens_decoder");
    if (!decoder) return added;
    if (!decoder->is_object()) return damaged(fmt::format("{}: added_tokens_decoder is {}, not an object", kName, kindOf(*decoder)));
    for (const auto& [key, description] : decoder->items()) {
        const bool number = !key.empty() && key.size() <= 8 && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!number) return damaged(fmt::format("{}: added_tokens_decoder has the key {}, which is no id", kName, shown(key)));
        Result<AddedToken> token = readAddedToken(description, std::stoll(key), kName);
        if (!token) return token.error();
        added.push_back(std::move(*token));
    }
    if (Result<void> checked = checkAdded(added, kName); !checked) return checked.error();
    return added;
}

namespace {

bool present(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

/// Added tokens of the vocab.json form: tokenizer_config.json knows more about them, so it has the first word.
Result<void> readAddedFiles(const fs::path& folder, TokenizerData& data) {
    for (const auto& [name, parse] : {std::pair("tokenizer_config.json", &parseTokenizerConfig), std::pair("added_tokens.json", &parseAddedTokens)}) {
        if (!present(folder / name)) continue;
        const Result<std::string> text = readTextFile(folder / name);
        if (!text) return text.error();
        Result<std::vector<AddedToken>> added = parse(*text);
        if (!added) return added.error();
        data.files.push_back(folder / name);
        if (added->empty()) continue;
        data.added = std::move(*added);
        break;
    }
    return {};
}

}  // namespace

bool hasTokenizerFiles(const fs::path& folder) {
    return present(folder / "tokenizer.json") || present(folder / "vocab.json") || present(folder / "merges.txt");
}

Result<TokenizerData> readTokenizerFiles(const fs::path& folder) {
    if (present(folder / "tokenizer.json")) {
        const Result<std::string> text = readTextFile(folder / "tokenizer.json");
        if (!text) return text.error();
        Result<TokenizerData> data = parseTokenizerJson(*text);
        if (data) data->files.push_back(folder / "tokenizer.json");
        return data;
    }
    const Result<std::string> vocabulary = readTextFile(folder / "vocab.json");
    if (!vocabulary) return vocabulary.error();
    const Result<std::string> merges = readTextFile(folder / "merges.txt");
    if (!merges) return merges.error();
    Result<TokenizerData> data = parseVocabularyAndMerges(*vocabulary, *merges);
    if (!data) return data;
    data->files = {folder / "vocab.json", folder / "merges.txt"};
    if (Result<void> read = readAddedFiles(folder, *data); !read) return read.error();
    return data;
}

}  // namespace kernelscope
