#pragma once
// A single user's turn in the form the Qwen2 family was trained on (ChatML).

#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/tokenizer.h"
#include "core/records/result.h"

namespace kernelscope {

class ChatTemplate {
public:
    /// Reads the template that a tokenizer folder ships (chat_template.jinja, else tokenizer_config.json). Templates are
    /// programs; the published ones of Qwen2 and Qwen2.5 are recognised, whatever their default system prompt says, and
    /// any other is badInput, with the advice to send the text raw. A folder without a template gets Qwen's own form if
    /// its tokenizer has <|im_start|> and <|im_end|>.
    static Result<ChatTemplate> load(const std::filesystem::path& tokenizerFolder, const Tokenizer& tokenizer);

    /// The same from the template's text.
    static Result<ChatTemplate> recognise(std::string_view jinja);

    /// System turn, user turn, and the beginning of the assistant's.
    [[nodiscard]] std::string render(std::string_view user) const;

    [[nodiscard]] const std::string& systemPrompt() const { return m_systemPrompt; }

private:
    explicit ChatTemplate(std::string systemPrompt) : m_systemPrompt(std::move(systemPrompt)) {}
    std::string m_systemPrompt;
};

}  // namespace kernelscope
