#include "core/model/json_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace kernelscope {
namespace {

using nlohmann::json;

std::string placeIn(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    std::size_t line = 1, lineStart = 0;
    for (std::size_t i = 0; i < offset; ++i) {
        if (text[i] != '\n') continue;
        ++line;
        lineStart = i + 1;
    }
    return fmt::format("line {}, column {}", line, offset - lineStart + 1);
}

/// Builds the document and keeps the first objection. Returning false makes the parser stop.
class Builder final : public nlohmann::json_sax<json> {
public:
    json root;
    std::string problem;
    std::size_t where = 0;

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return refuse("binary data is not JSON"); }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        const auto [place, added] = m_open.back()->emplace(std::move(name), nullptr);
        if (!added) return refuse(fmt::format("the key {} stands there twice", shown(place.key())));
        m_slot = &*place;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
        where = position > 0 ? position - 1 : 0;
        // The library's words are "[json.exception...] parse error at line 1, column 2: <cause>"; the place is ours.
        const std::string words = error.what();
        const std::size_t syntax = words.find("syntax error");
        problem = syntax == std::string::npos ? "a number or a text that JSON does not allow" : words.substr(syntax);
        return false;
    }

private:
    bool refuse(std::string words) {
        problem = std::move(words);
        return false;
    }
    json* place(json&& value) {
        if (m_open.empty()) {
            root = std::move(value);
            return &root;
        }
        if (m_open.back()->is_array()) {
            m_open.back()->push_back(std::move(value));
            return &m_open.back()->back();
        }
        *m_slot = std::move(value);
        return m_slot;
    }
    template <typename T>
    bool add(T&& value) {
        place(json(std::forward<T>(value)));
        return true;
    }
    bool open(json&& container) {
        if (static_cast<int>(m_open.size()) >= kMaxJsonDepth) {
            return refuse(fmt::format("nested more than {} levels deep", kMaxJsonDepth));
        }
        // The address stays good: a container grows only while it is the innermost open one.
        m_open.push_back(place(std::move(container)));
        return true;
    }
    bool close() {
        m_open.pop_back();
        return true;
    }

    std::vector<json*> m_open;
    json* m_slot = nullptr;
};

}  // namespace

Result<nlohmann::json> parseJsonObject(std::string_view text, const std::string& what) {
    Builder builder;
    if (!json::sax_parse(text.begin(), text.end(), &builder)) {
        const std::string place = builder.where > 0 ? " at " + placeIn(text, builder.where) : std::string();
        return makeError(ErrorCode::badInput, fmt::format("{} is not valid JSON: {}{}", what, builder.problem, place),
                         "Fetch the file again, or correct it by hand if it was edited.");
    }
    if (!builder.root.is_object()) {
        return makeError(ErrorCode::badInput, fmt::format("{} holds {} where an object {{...}} belongs", what, kindOf(builder.root)),
                         "Fetch the file again; this may be another file under its name.");
    }
    return std::move(builder.root);
}

std::string_view kindOf(const nlohmann::json& value) {
    switch (value.type()) {
        case json::value_t::null: return "null";
        case json::value_t::object: return "an object";
        case json::value_t::array: return "a list";
        case json::value_t::string: return "a text";
        case json::value_t::boolean: return "true or false";
        default: return value.is_number() ? "a number" : "something unknown";
    }
}

std::string shown(const nlohmann::json& value) {
    constexpr std::size_t kLongest = 80;
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() <= kLongest) return text;
    std::size_t cut = kLongest;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;  // not inside a character
    return text.substr(0, cut) + "...";
}

}  // namespace kernelscope
