#include "core/own/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelscope {

struct Expression::Node {
    enum class Kind { number, name, negate, no, call, binary } kind = Kind::number;
    std::int64_t number = 0;
    std::string word;  ///< the name, the function, the operator
    std::shared_ptr<const Node> left, right;
};

namespace {

using Node = Expression::Node;
using NodePointer = std::shared_ptr<const Node>;
using Kind = Node::Kind;

// Deep enough for what people write, shallow enough for the stack.
constexpr int kDeepest = 64;
// A chain a + b + ... is as deep a tree as it has parts.
constexpr int kMostParts = 1000;

struct Level {
    std::array<std::string_view, 4> operators;
};
// Loosest first; longer operators before their beginnings.
constexpr std::array kLevels{Level{{"||"}}, Level{{"&&"}}, Level{{"==", "!="}}, Level{{"<=", ">=", "<", ">"}}, Level{{"+", "-"}}, Level{{"*", "/", "%"}}};
constexpr std::array<std::string_view, 3> kFunctions{"min", "max", "ceil_div"};

/// For messages.
std::string_view shortened(std::string_view text) { return text.substr(0, 200); }

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Parser {
public:
    Parser(std::string_view text, std::span<const std::string_view> names) : m_text(text), m_names(names) {}

    Result<NodePointer> all() {
        NodePointer root = level(0);
        skipSpace();
        if (root && m_at < m_text.size()) root = fail(fmt::format("'{}' is not understood", shortened(m_text.substr(m_at))));
        if (!root) return makeError(ErrorCode::badInput, fmt::format("'{}': {}", shortened(m_text), m_problem));
        return root;
    }

private:
    NodePointer fail(std::string why) {
        if (m_problem.empty()) m_problem = std::move(why);
        return nullptr;
    }
    void skipSpace() {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) ++m_at;
    }
    bool take(std::string_view word) {
        skipSpace();
        if (word.empty() || m_text.substr(m_at, word.size()) != word) return false;
        m_at += word.size();
        return true;
    }

    NodePointer level(std::size_t index) {
        if (index == kLevels.size()) return unary();
        NodePointer left = level(index + 1);
        while (left) {
            const auto& operators = kLevels[index].operators;
            const auto found = std::find_if(operators.begin(), operators.end(), [this](std::string_view word) { return take(word); });
            if (found == operators.end()) break;
            NodePointer right = level(index + 1);
            if (!right) return nullptr;
            if (++m_parts > kMostParts) return fail("it has too many parts");
            left = std::make_shared<Node>(Node{Kind::binary, 0, std::string(*found), left, right});
        }
        return left;
    }

    NodePointer unary() {
        if (++m_depth > kDeepest) return fail("it is nested too deeply");
        NodePointer made;
        if (take("-")) {
            if (NodePointer of = unary()) made = std::make_shared<Node>(Node{Kind::negate, 0, {}, of, nullptr});
        } else if (m_text.substr(m_at, 2) != "!=" && take("!")) {
            if (NodePointer of = unary()) made = std::make_shared<Node>(Node{Kind::no, 0, {}, of, nullptr});
        } else {
            made = primary();
        }
        --m_depth;
        return made;
    }

    NodePointer primary() {
        if (take("(")) {
            NodePointer inside = level(0);
            if (inside && !take(")")) return fail("a ) is missing");
            return inside;
        }
        skipSpace();
        const std::size_t begin = m_at;
        if (m_at < m_text.size() && isDigit(m_text[m_at])) {
            while (m_at < m_text.size() && isDigit(m_text[m_at])) ++m_at;
            std::int64_t number = 0;
            if (std::from_chars(m_text.data() + begin, m_text.data() + m_at, number).ec != std::errc()) return fail("a number is too large");
            return std::make_shared<Node>(Node{Kind::number, number, {}, nullptr, nullptr});
        }
        while (m_at < m_text.size() && (isLetter(m_text[m_at]) || (m_at > begin && isDigit(m_text[m_at])))) ++m_at;
        const std::string_view word = m_text.substr(begin, m_at - begin);
        if (word.empty()) return fail(m_at < m_text.size() ? fmt::format("'{}' is not understood", m_text.substr(m_at)) : "something is missing at its end");
        if (std::find(kFunctions.begin(), kFunctions.end(), word) != kFunctions.end()) return call(word);
        if (std::find(m_names.begin(), m_names.end(), word) == m_names.end()) return fail(fmt::format("there is no '{}' here; there are {}", shortened(word), fmt::join(m_names, ", ")));
        return std::make_shared<Node>(Node{Kind::name, 0, std::string(word), nullptr, nullptr});
    }

    NodePointer call(std::string_view function) {
        if (!take("(")) return fail(fmt::format("{} needs two values in parentheses", function));
        NodePointer left = level(0);
        if (!left) return nullptr;
        if (!take(",")) return fail(fmt::format("{} needs two values", function));
        NodePointer right = level(0);
        if (!right) return nullptr;
        if (!take(")")) return fail("a ) is missing");
        return std::make_shared<Node>(Node{Kind::call, 0, std::string(function), left, right});
    }

    std::string_view m_text;
    std::span<const std::string_view> m_names;
    std::size_t m_at = 0;
    int m_depth = 0;
    int m_parts = 0;
    std::string m_problem;
};

/// nullopt: overflow or division by zero.
std::optional<std::int64_t> combined(const std::string& word, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (word == "+") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (word == "-") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (word == "*") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (word == "/" || word == "%" || word == "ceil_div") {
        if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
        if (word == "%") return a % b;
        return a / b + (word == "ceil_div" && a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
    }
    if (word == "min") return std::min(a, b);
    if (word == "max") return std::max(a, b);
    if (word == "<") return a < b;
    if (word == "<=") return a <= b;
    if (word == ">") return a > b;
    if (word == ">=") return a >= b;
    if (word == "==") return a == b;
    return a != b;
}

std::optional<std::int64_t> valueOf(const Node& node, std::span<const NamedNumber> numbers) {
    switch (node.kind) {
        case Kind::number: return node.number;
        case Kind::name:
            for (const auto& [name, number] : numbers) {
                if (name == node.word) return number;
            }
            return std::nullopt;
        case Kind::negate: {
            const auto of = valueOf(*node.left, numbers);
            return of ? combined("-", 0, *of) : std::nullopt;
        }
        case Kind::no: {
            const auto of = valueOf(*node.left, numbers);
            return of ? std::optional<std::int64_t>(*of == 0) : std::nullopt;
        }
        default: break;
    }
    const auto left = valueOf(*node.left, numbers);
    if (!left) return std::nullopt;
    // As in C: what decides alone is not followed by the other side.
    if (node.word == "&&" && *left == 0) return 0;
    if (node.word == "||" && *left != 0) return 1;
    const auto right = valueOf(*node.right, numbers);
    if (!right) return std::nullopt;
    if (node.word == "&&" || node.word == "||") return *right != 0;
    return combined(node.word, *left, *right);
}

}  // namespace

Result<Expression> Expression::parse(std::string_view text, std::span<const std::string_view> names) {
    Result<NodePointer> root = Parser(text, names).all();
    if (!root) return root.error();
    Expression made;
    made.m_text = std::string(text);
    made.m_root = *root;
    return made;
}

Result<std::int64_t> Expression::value(std::span<const NamedNumber> numbers) const {
    const auto result = valueOf(*m_root, numbers);
    if (!result) return makeError(ErrorCode::usage, fmt::format("'{}' has no value here: it divides by zero or leaves 64 bits", m_text));
    return *result;
}

}  // namespace kernelscope
