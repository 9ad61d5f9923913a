#include "core/model/pattern.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/model/json_text.h"
#include "core/records/utf8.h"

namespace kernelscope {
namespace {

std::string wordsOf(int code) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

template <typename T, void (*Free)(T*)>
struct Freer {
    void operator()(T* object) const { Free(object); }
};
template <typename T, void (*Free)(T*)>
using Owned = std::unique_ptr<T, Freer<T, Free>>;

}  // namespace

struct Pattern::Code {
    Owned<pcre2_code, pcre2_code_free> code;
    std::string expression;
};

Result<Pattern> Pattern::compile(const std::string& expression, bool literal) {
    int problem = 0;
    PCRE2_SIZE place = 0;
    const std::uint32_t options = PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C);
    const auto* text = reinterpret_cast<PCRE2_SPTR>(expression.data());
    Owned<pcre2_code, pcre2_code_free> code(pcre2_compile(text, expression.size(), options, &problem, &place, nullptr));
    if (!code) {
        return makeError(ErrorCode::badInput, fmt::format("the pattern {} cannot be used: {} at character {}", shown(expression), wordsOf(problem), place),
                         "The tokenizer's files may be damaged; fetch them again.");
    }
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // where this fails, matching is interpreted
    auto held = std::make_shared<Code>();
    held->code = std::move(code);
    held->expression = expression;
    return Pattern(std::move(held));
}

Result<void> Pattern::split(std::string_view text, const std::function<bool(std::string_view, bool)>& piece) const {
    const Owned<pcre2_match_data, pcre2_match_data_free> match(pcre2_match_data_create_from_pattern(m_code->code.get(), nullptr));
    const Owned<pcre2_match_context, pcre2_match_context_free> context(pcre2_match_context_create(nullptr));
    // Each call has a stack of its own, so that one tokenizer serves many threads.
    const Owned<pcre2_jit_stack, pcre2_jit_stack_free> stack(pcre2_jit_stack_create(32 << 10, 16 << 20, nullptr));
    if (!match || !context) return makeError(ErrorCode::environment, "out of memory while splitting a text", "Close other programs, or shorten the text.");
    if (stack) pcre2_jit_stack_assign(context.get(), nullptr, stack.get());

    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    std::size_t gap = 0;  // where the text not handed out yet begins
    while (gap < text.size()) {
        const int found = pcre2_match(m_code->code.get(), subject, text.size(), gap, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match.get(), context.get());
        if (found == PCRE2_ERROR_NOMATCH) break;
        if (found < 0) {
            return makeError(ErrorCode::badInput, fmt::format("the pattern {} gave up on this text: {}", shown(m_code->expression), wordsOf(found)),
                             "Shorten the text, or break up its longest run without spaces.");
        }
        const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match.get());
        // \K in a look-ahead can turn the two round; nothing sensible can be cut out then.
        if (place[1] <= place[0] || place[0] < gap) {
            return makeError(ErrorCode::badInput, fmt::format("the pattern {} does not move forward", shown(m_code->expression)),
                             "The tokenizer's files may be damaged; fetch them again.");
        }
        if (place[0] > gap && !piece(text.substr(gap, place[0] - gap), false)) return {};
        if (!piece(text.substr(place[0], place[1] - place[0]), true)) return {};
        gap = place[1];
    }
    if (gap < text.size()) piece(text.substr(gap), false);
    return {};
}

}  // namespace kernelscope
