#include "core/model/config_reader.h"

#include <cmath>

#include <fmt/format.h>

#include "core/model/json_text.h"

namespace kernelscope {
namespace {
constexpr const char* kCorrectIt = "Correct the value in config.json, or fetch the file again.";
}

const nlohmann::json* ConfigReader::value(std::string_view key) const {
    const auto found = m_object.find(std::string(key));
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void ConfigReader::refuse(std::string_view key, std::string_view words, std::string advice) {
    if (m_error) return;
    m_error = makeError(ErrorCode::badInput, fmt::format("config.json: {}{} {}", m_prefix, key, words), std::move(advice));
}

void ConfigReader::wrongKind(std::string_view key, std::string_view wanted, const nlohmann::json& found) {
    refuse(key, fmt::format("should be {}, but is {}", wanted, shown(found)), kCorrectIt);
}

std::optional<std::int64_t> ConfigReader::integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const nlohmann::json* found = value(key);
    if (!found) return std::nullopt;
    // Through double only for floats: every bound used here is far below 2^53.
    std::optional<std::int64_t> whole;
    if (found->is_number_unsigned()) {
        const auto number = found->get<std::uint64_t>();
        if (number <= static_cast<std::uint64_t>(INT64_MAX)) whole = static_cast<std::int64_t>(number);
    } else if (found->is_number_integer()) {
        whole = found->get<std::int64_t>();
    } else if (found->is_number_float()) {
        const double number = found->get<double>();
        if (!std::isfinite(number) || number != std::floor(number)) {
            wrongKind(key, "a whole number", *found);
            return std::nullopt;
        }
        if (std::abs(number) < 9e15) whole = static_cast<std::int64_t>(number);
    } else {
        wrongKind(key, "a whole number", *found);
        return std::nullopt;
    }
    if (!whole || *whole < least || *whole > most) {
        wrongKind(key, fmt::format("from {} to {}", least, most), *found);
        return std::nullopt;
    }
    return whole;
}

std::optional<double> ConfigReader::number(std::string_view key) {
    const nlohmann::json* found = value(key);
    if (!found) return std::nullopt;
    if (!found->is_number()) {
        wrongKind(key, "a number", *found);
        return std::nullopt;
    }
    return found->get<double>();
}

std::optional<bool> ConfigReader::boolean(std::string_view key) {
    const nlohmann::json* found = value(key);
    if (!found) return std::nullopt;
    if (!found->is_boolean()) {
        wrongKind(key, "true or false", *found);
        return std::nullopt;
    }
    return found->get<bool>();
}

std::optional<std::string> ConfigReader::text(std::string_view key) {
    const nlohmann::json* found = value(key);
    if (!found) return std::nullopt;
    if (!found->is_string()) {
        wrongKind(key, "a text", *found);
        return std::nullopt;
    }
    return found->get<std::string>();
}

std::int64_t ConfigReader::requiredInteger(std::string_view key, std::int64_t least, std::int64_t most) {
    if (!value(key)) {
        refuse(key, "is missing", "This may be the config.json of something else, or a shortened one; fetch it again.");
        return 0;
    }
    return integer(key, least, most).value_or(0);
}

}  // namespace kernelscope
