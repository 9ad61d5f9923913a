#pragma once
// Whole-number expressions of a kernel's header: how many blocks, how much shared memory, which shapes it serves.
//
//   numbers, names, ( ), unary - and !, * / %, + -, < <= > >=, == !=, && ||, min(a, b), max(a, b), ceil_div(a, b)

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/records/result.h"

namespace kernelscope {

using NamedNumber = std::pair<std::string_view, std::int64_t>;

class Expression {
public:
    /// Errors: badInput, naming what is not understood or which name is not one of `names`.
    static Result<Expression> parse(std::string_view text, std::span<const std::string_view> names);

    /// Truth is 1 and 0. Errors: usage: division by zero, a result beyond 64 bits.
    [[nodiscard]] Result<std::int64_t> value(std::span<const NamedNumber> numbers) const;

    [[nodiscard]] const std::string& text() const { return m_text; }

    struct Node;

private:
    std::string m_text;
    std::shared_ptr<const Node> m_root;
};

}  // namespace kernelscope
