#include "core/model/tokenize.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/chat.h"
#include "core/model/files.h"
#include "core/model/json_text.h"
#include "core/model/tokenizer.h"

namespace kernelscope {
namespace {

using nlohmann::json;

Result<std::vector<std::int64_t>> idsOf(const json& list, const ModelSource& source, const Tokenizer& tokenizer) {
    if (!list.is_array()) return makeError(ErrorCode::usage, fmt::format("ids should be a list of token ids, but are {}", shown(list)));
    const Result<ModelConfig> config = readModelConfig(source);
    if (!config) return config.error();
    const std::int64_t end = std::max(config->vocabSize, tokenizer.end());
    std::vector<std::int64_t> ids;
    for (const json& id : list) {
        // Numbers read from text are unsigned, those made by a program may not be; a huge one turns negative here.
        if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() >= end) {
            return makeError(ErrorCode::usage, fmt::format("{} is no token id of this model", shown(id)), fmt::format("Its ids go from 0 to {}.", end - 1));
        }
        ids.push_back(id.get<std::int64_t>());
    }
    return ids;
}

}  // namespace

Result<ModelConfig> readModelConfig(const ModelSource& source) {
    if (source.preset) return source.preset->config;
    const Result<std::string> text = readTextFile(source.folder / "config.json");
    if (!text) return text.error();
    return parseConfig(*text, toUtf8(source.folder.filename()));
}

Result<json> tokenize(const ModelSource& source, const json& request) {
    if (!request.is_object()) return makeError(ErrorCode::usage, "tokenize needs {text} or {ids}");
    const Result<std::optional<Tokenizer>> loaded = loadTokenizer(source);
    if (!loaded) return loaded.error();
    if (!*loaded) {
        return makeError(ErrorCode::badInput, fmt::format("{} has no tokenizer: neither tokenizer.json nor vocab.json is there", source.argument),
                         "Put the model's tokenizer files beside config.json.");
    }
    const Tokenizer& tokenizer = **loaded;
    std::vector<std::int64_t> ids;
    std::string text;
    if (const auto list = request.find("ids"); list != request.end()) {
        Result<std::vector<std::int64_t>> read = idsOf(*list, source, tokenizer);
        if (!read) return read.error();
        ids = std::move(*read);
        text = tokenizer.decode(ids);
    } else if (const auto given = request.find("text"); given != request.end() && given->is_string()) {
        text = given->get<std::string>();
        if (const auto chat = request.find("chat"); chat != request.end() && *chat == true) {
            const Result<std::optional<std::filesystem::path>> folder = tokenizerFolder(source);
            if (!folder) return folder.error();
            const Result<ChatTemplate> form = ChatTemplate::load(**folder, tokenizer);
            if (!form) return form.error();
            text = form->render(text);
        }
        Result<std::vector<std::int64_t>> encoded = tokenizer.encode(text);
        if (!encoded) return encoded.error();
        ids = std::move(*encoded);
    } else {
        return makeError(ErrorCode::usage, "tokenize needs {text} or {ids}");
    }
    json tokens = json::array();
    for (const std::int64_t id : ids) tokens.push_back(tokenizer.tokenText(id));
    return json{{"ids", ids}, {"tokens", std::move(tokens)}, {"text", text}};
}

}  // namespace kernelscope
