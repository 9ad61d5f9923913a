#include "core/model/chat.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/files.h"
#include "core/model/json_text.h"

namespace kernelscope {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr const char* kSendRaw = "Send the text as it is with --raw, or give token ids.";
constexpr const char* kQwenPrompt = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";

// Fingerprints of the published templates with the default system prompt taken out. All of them render a single user
// turn in the same way; they differ in tools and longer conversations, which are not used here.
constexpr std::array<std::uint64_t, 2> kKnown = {
    0x0A9615227FDF71F1U,  // Qwen2.5, the one bundled with the presets
    0xC882163869B81266U,  // Qwen2
};

/// FNV-1a, 64 bits.
std::uint64_t fingerprint(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return hash;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    while (true) {
        const std::size_t place = text.find(from);
        out.append(text.substr(0, place));
        if (place == std::string_view::npos) return out;
        out.append(to);
        text.remove_prefix(place + from.size());
    }
}

std::string trimmed(const std::string& text) {
    constexpr const char* kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The literal between "system" and the end of its turn: '<|im_start|>system\n ... <|im_end|>\n' in one pair of quotes.
std::string defaultPrompt(std::string_view jinja) {
    constexpr std::string_view kOpen = "'<|im_start|>system\n", kClose = "<|im_end|>\n'";
    for (std::size_t place = jinja.find(kOpen); place != std::string_view::npos; place = jinja.find(kOpen, place)) {
        place += kOpen.size();
        const std::size_t end = jinja.find(kClose, place);
        if (end == std::string_view::npos) return {};
        if (end < jinja.find('\'', place)) return std::string(jinja.substr(place, end - place));
    }
    return {};
}

Error otherTemplate() {
    return makeError(ErrorCode::badInput, "the model's chat template is not the one of Qwen2 or Qwen2.5, and others are not implemented", kSendRaw);
}

/// The chat_template of tokenizer_config.json: a text, or a list of named ones of which "default" counts.
Result<std::optional<std::string>> templateOfConfig(const fs::path& path) {
    const Result<std::string> text = readTextFile(path);
    if (!text) return text.error();
    const Result<json> config = parseJsonObject(*text, "tokenizer_config.json");
    if (!config) return config.error();
    const auto found = config->find("chat_template");
    if (found == config->end() || found->is_null()) return std::optional<std::string>();
    if (found->is_string()) return std::optional<std::string>(found->get<std::string>());
    if (found->is_array()) {
        for (const json& entry : *found) {
            const bool named = entry.is_object() && entry.value("name", json()) == "default";
            if (named && entry.contains("template") && entry["template"].is_string()) return std::optional<std::string>(entry["template"].get<std::string>());
        }
    }
    return otherTemplate();
}

}  // namespace

Result<ChatTemplate> ChatTemplate::recognise(std::string_view jinja) {
    // In JSON a line end inside a literal may be written as such or as the two characters \n.
    const std::string text = trimmed(replaced(jinja, "\\n", "\n"));
    const std::string prompt = defaultPrompt(text);
    if (prompt.empty()) return otherTemplate();
    const std::uint64_t found = fingerprint(replaced(text, prompt, "\x01"));
    if (std::find(kKnown.begin(), kKnown.end(), found) == kKnown.end()) return otherTemplate();
    return ChatTemplate(replaced(prompt, "\\\\", "\\"));
}

Result<ChatTemplate> ChatTemplate::load(const fs::path& folder, const Tokenizer& tokenizer) {
    std::error_code ignored;
    if (const fs::path file = folder / "chat_template.jinja"; fs::exists(fs::symlink_status(file, ignored))) {
        const Result<std::string> text = readTextFile(file);
        if (!text) return text.error();
        return recognise(*text);
    }
    if (const fs::path file = folder / "tokenizer_config.json"; fs::exists(fs::symlink_status(file, ignored))) {
        const Result<std::optional<std::string>> text = templateOfConfig(file);
        if (!text) return text.error();
        if (*text) return recognise(**text);
    }
    if (tokenizer.idOfAdded("<|im_start|>") && tokenizer.idOfAdded("<|im_end|>")) return ChatTemplate(kQwenPrompt);
    return makeError(ErrorCode::badInput, "the model has no chat template, and its tokenizer has no <|im_start|> and <|im_end|> to make one of", kSendRaw);
}

std::string ChatTemplate::render(std::string_view user) const {
    return fmt::format("<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n", m_systemPrompt, user);
}

}  // namespace kernelscope
