#include "core/model/chat.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/tokenizer/qwen.h"

namespace kernelscope {
namespace {

using nlohmann::json;
using test::readFile;
using test::writeFile;

std::string bundledTemplate() { return readFile(std::string(KERNELSCOPE_BUNDLED_TOKENIZER) + "/chat_template.jinja"); }

constexpr const char* kOlder =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}"
    "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ "
    "'<|im_start|>assistant\n' }}{% endif %}";

std::string with(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    return text;
}

TEST(Chat, RendersTheQwenForm) {
    const Result<ChatTemplate> chat = ChatTemplate::load(KERNELSCOPE_BUNDLED_TOKENIZER, test::qwen());
    ASSERT_TRUE(chat.ok()) << chat.error().message;
    EXPECT_EQ(chat->render("hi"),
              "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    const test::Ids tokens = test::ids(test::qwen(), chat->render("hi"));
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 151644), 3);
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 151645), 2);
}

TEST(Chat, TakesTheDefaultPromptFromTheTemplate) {
    EXPECT_EQ(ChatTemplate::recognise(kOlder)->systemPrompt(), "You are a helpful assistant.");
    const std::string math = with(bundledTemplate(), "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", R"(Put it in \\boxed{}.)");
    ASSERT_TRUE(ChatTemplate::recognise(math).ok());
    EXPECT_EQ(ChatTemplate::recognise(math)->systemPrompt(), R"(Put it in \boxed{}.)");
    EXPECT_TRUE(ChatTemplate::recognise(with(kOlder, "\n", "\\n")).ok());  // line ends written as two characters
}

TEST(Chat, RefusesOtherTemplatesInWords) {
    for (const std::string& other : {std::string(), std::string("{{ messages }}"), std::string("<|im_start|>system\n"), with(kOlder, "assistant\n", "assistant\n<think>\n"),
                                     with(bundledTemplate(), "'<|im_start|>assistant\\n'", "'<|im_start|>assistant\\n<think>\\n'"),
                                     std::string("{{ '<|im_start|>system\nYou"), with(kOlder, "+ message['content'] +", "+ message['content'].strip() +")}) {
        const Result<ChatTemplate> chat = ChatTemplate::recognise(other);
        ASSERT_FALSE(chat.ok()) << other;
        EXPECT_EQ(chat.error().code, ErrorCode::badInput);
        EXPECT_NE(chat.error().advice.find("--raw"), std::string::npos);
    }
}

TEST(Chat, FindsTheTemplateOfAFolder) {
    const test::TemporaryFolder folder;
    const auto load = [&] { return ChatTemplate::load(folder.path(), test::qwen()); };
    ASSERT_TRUE(load().ok());  // none there: Qwen's own, since the tokenizer has its tokens
    EXPECT_NE(load()->systemPrompt().find("You are Qwen"), std::string::npos);

    const auto config = [&](const json& value) { ASSERT_TRUE(writeFile(folder.path() / "tokenizer_config.json", json{{"chat_template", value}}.dump())); };
    config(kOlder);
    EXPECT_EQ(load()->systemPrompt(), "You are a helpful assistant.");
    config(json::array({{{"name", "tool_use"}, {"template", "x"}}, {{"name", "default"}, {"template", kOlder}}}));
    EXPECT_EQ(load()->systemPrompt(), "You are a helpful assistant.");
    config(nullptr);
    EXPECT_TRUE(load().ok());
    config("{{ bos_token }}");
    EXPECT_FALSE(load().ok());
    config(7);
    EXPECT_FALSE(load().ok());
    ASSERT_TRUE(writeFile(folder.path() / "chat_template.jinja", kOlder));  // the newer place has the first word
    EXPECT_TRUE(load().ok());
}

TEST(Chat, ATokenizerWithoutTheTokensNeedsRaw) {
    const test::TemporaryFolder folder;
    const Result<ChatTemplate> chat = ChatTemplate::load(folder.path(), *test::tokenizerFrom(test::smallTokenizer()));
    ASSERT_FALSE(chat.ok());
    EXPECT_NE(chat.error().advice.find("--raw"), std::string::npos);
}

}  // namespace
}  // namespace kernelscope
