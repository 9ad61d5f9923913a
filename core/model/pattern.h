#pragma once
// A regular expression over valid UTF-8. PCRE2, because the pre-tokenizers look ahead; compiled to machine code where
// the system allows it, interpreted elsewhere.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/records/result.h"

namespace kernelscope {

class Pattern {
public:
    /// Errors: badInput, with the place of the mistake.
    static Result<Pattern> compile(const std::string& expression, bool literal = false);

    /// Calls `piece(text, matched)` for every match and every gap between matches, in order; empty ones are left out.
    /// Stops early when `piece` returns false. `text` must be valid UTF-8.
    /// Errors: badInput when the expression needs more steps or memory than is reasonable.
    Result<void> split(std::string_view text, const std::function<bool(std::string_view, bool)>& piece) const;

private:
    struct Code;
    explicit Pattern(std::shared_ptr<const Code> code) : m_code(std::move(code)) {}
    std::shared_ptr<const Code> m_code;
};

}  // namespace kernelscope
