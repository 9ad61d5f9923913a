#include "core/records/json_read.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;

namespace {

/// Counts brackets outside strings, so that nothing deep is ever built.
bool nestsTooDeep(std::string_view text) {
    int depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inString) {
            if (c == '\\') ++i;
            else if (c == '"') inString = false;
        } else if (c == '"') {
            inString = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxJsonDepth) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

}  // namespace

std::optional<json> parseJson(std::string_view text) {
    if (nestsTooDeep(text)) return std::nullopt;
    json document = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) return std::nullopt;
    return document;
}

std::string whyNoJson(std::string_view text) {
    constexpr std::size_t kShown = 200;
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "it is empty";
    if (const std::size_t valid = validPrefix(text); valid < text.size()) return "it is not UTF-8 (byte " + std::to_string(valid + 1) + ")";
    if (nestsTooDeep(text)) return "it nests more than " + std::to_string(kMaxJsonDepth) + " levels deep";
    try {
        [[maybe_unused]] const json read = json::parse(text.begin(), text.end());
    } catch (const json::parse_error& error) {
        const std::size_t offset = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
        const auto before = text.substr(0, offset);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const auto lastBreak = before.rfind('\n');
        const std::size_t column = offset - (lastBreak == std::string_view::npos ? 0 : lastBreak + 1) + 1;
        // The library's words are "[...] parse error at line 1, column 2: syntax error ..."; the place is ours.
        const std::string words = error.what();
        const auto cause = words.find("syntax error");
        return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + shortened(validUtf8(cause == std::string::npos ? "a text that JSON does not allow" : words.substr(cause)), kShown);  // what it read last may end inside a character
    } catch (const json::exception& error) {
        const std::string words = error.what();  // "[json.exception.out_of_range.406] number overflow parsing '1e400'"
        const auto bracket = words.find("] ");
        return shortened(bracket == std::string::npos ? words : words.substr(bracket + 2), kShown);
    }
    return {};
}

std::string dumpJson(const json& document, int indent) {
    return document.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::optional<std::int64_t> integerOf(const json& value) {
    if (value.is_number_unsigned()) {
        const auto held = value.get<std::uint64_t>();
        if (held > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
        return static_cast<std::int64_t>(held);
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number_float()) {
        // Some writers spell 3 as 3.0. Past 2^53 a double no longer says which integer was meant.
        constexpr double kLargestExact = 9007199254740992.0;
        const double held = value.get<double>();
        if (std::abs(held) <= kLargestExact && std::trunc(held) == held) return static_cast<std::int64_t>(held);
    }
    return std::nullopt;
}

std::optional<double> numberOf(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
        if (text == "inf") return std::numeric_limits<double>::infinity();
        if (text == "-inf") return -std::numeric_limits<double>::infinity();
    }
    return std::nullopt;
}

json jsonNumber(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

JsonReader::JsonReader(const json& object, std::string what) : m_object(object), m_what(std::move(what)) {
    if (!object.is_object())
        m_error = makeError(ErrorCode::badInput, m_what + " is not a JSON object");
}

const json* JsonReader::find(std::string_view key) const {
    if (m_error || !m_object.is_object()) return nullptr;
    const auto found = m_object.find(key);
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void JsonReader::fail(std::string_view key, std::string_view cause) {
    if (!m_error) m_error = makeError(ErrorCode::badInput, m_what + ": " + std::string(key) + " " + std::string(cause));
}

void JsonReader::require(std::string_view key) {
    if (!m_error && !find(key)) fail(key, "is missing");
}

void JsonReader::read(std::string_view key, std::string& target) {
    if (const json* value = find(key)) {
        if (value->is_string()) target = value->get_ref<const std::string&>();
        else fail(key, "is not text");
    }
}

void JsonReader::read(std::string_view key, std::int64_t& target) {
    if (const json* value = find(key)) {
        if (const auto held = integerOf(*value)) target = *held;
        else fail(key, "is not an integer");
    }
}

void JsonReader::read(std::string_view key, int& target) {
    std::int64_t held = target;
    read(key, held);
    if (held < std::numeric_limits<int>::min() || held > std::numeric_limits<int>::max()) fail(key, "is out of range");
    else target = static_cast<int>(held);
}

void JsonReader::read(std::string_view key, bool& target) {
    if (const json* value = find(key)) {
        if (value->is_boolean()) target = value->get<bool>();
        else fail(key, "is not true or false");
    }
}

void JsonReader::read(std::string_view key, double& target) {
    if (const json* value = find(key)) {
        if (const auto held = numberOf(*value)) target = *held;
        else fail(key, "is not a number");
    }
}

void JsonReader::read(std::string_view key, std::optional<double>& target) {
    if (!find(key)) return;
    double held = 0;
    read(key, held);
    if (ok()) target = held;
}

void JsonReader::read(std::string_view key, std::optional<std::int64_t>& target) {
    if (!find(key)) return;
    std::int64_t held = 0;
    read(key, held);
    if (ok()) target = held;
}

void JsonReader::read(std::string_view key, std::vector<std::string>& target) {
    const json* value = find(key);
    if (!value) return;
    if (!value->is_array()) return fail(key, "is not a list");
    std::vector<std::string> held;
    held.reserve(value->size());
    for (const json& item : *value) {
        if (!item.is_string()) return fail(key, "holds something that is not text");
        held.push_back(item.get_ref<const std::string&>());
    }
    target = std::move(held);
}

void JsonReader::readObject(std::string_view key, json& target) {
    if (const json* value = find(key)) {
        if (value->is_object()) target = *value;
        else fail(key, "is not an object");
    }
}

}  // namespace kernelscope
