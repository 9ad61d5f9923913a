#include "core/engine/settings.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/json_text.h"
#include "core/records/utf8.h"

namespace kernelscope {

namespace {
constexpr std::size_t kShown = 80;  ///< bytes of a value that a message repeats
}

SettingsReader::SettingsReader(const nlohmann::json& settings) : m_given(settings) {
    if (!m_given.is_object()) {
        fail("Settings must be an object of named values");
        m_given = nlohmann::json::object();
    }
}

void SettingsReader::fail(std::string message, std::string advice) {
    if (!m_problem) m_problem = makeError(ErrorCode::usage, std::move(message), std::move(advice));
}

const nlohmann::json* SettingsReader::find(const char* key) {
    m_asked.insert(key);
    const auto it = m_given.find(key);
    return it == m_given.end() || it->is_null() ? nullptr : &*it;
}

std::int64_t SettingsReader::integer(const char* key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
    std::int64_t value = fallback;
    if (const nlohmann::json* given = find(key)) {
        if (!given->is_number_integer() || given->get<double>() < static_cast<double>(low) || given->get<double>() > static_cast<double>(high)) {
            fail(fmt::format("{} is {}, but must be a whole number from {} to {}", key, shown(*given), low, high));
        } else {
            value = given->get<std::int64_t>();
        }
    }
    m_complete[key] = value;
    return value;
}

double SettingsReader::number(const char* key, double fallback, double low, double high) {
    double value = fallback;
    if (const nlohmann::json* given = find(key)) {
        if (!given->is_number() || !(given->get<double>() >= low && given->get<double>() <= high)) {
            fail(fmt::format("{} is {}, but must be a number from {} to {}", key, shown(*given), low, high));
        } else {
            value = given->get<double>();
        }
    }
    m_complete[key] = value;
    return value;
}

bool SettingsReader::flag(const char* key, bool fallback) {
    bool value = fallback;
    if (const nlohmann::json* given = find(key)) {
        if (given->is_boolean()) value = given->get<bool>();
        else fail(fmt::format("{} is {}, but must be true or false", key, shown(*given)));
    }
    m_complete[key] = value;
    return value;
}

std::string SettingsReader::text(const char* key, const std::string& fallback) {
    std::string value = fallback;
    if (const nlohmann::json* given = find(key)) {
        if (given->is_string()) value = given->get<std::string>();
        else fail(fmt::format("{} is {}, but must be text", key, shown(*given)));
    }
    m_complete[key] = value;
    return value;
}

std::string SettingsReader::choice(const char* key, const std::string& fallback, std::initializer_list<std::string> choices) {
    const std::string value = text(key, fallback);
    for (const std::string& each : choices) {
        if (each == value) return value;
    }
    fail(fmt::format("{} is '{}', but must be one of {}", key, shortened(value, kShown), fmt::join(choices, ", ")));
    return fallback;
}

std::vector<std::int64_t> SettingsReader::integers(const char* key) {
    std::vector<std::int64_t> values;
    if (const nlohmann::json* given = find(key)) {
        const bool whole = given->is_array() && std::all_of(given->begin(), given->end(), [](const auto& each) { return each.is_number_integer(); });
        if (whole) values = given->get<std::vector<std::int64_t>>();
        else fail(fmt::format("{} must be a list of whole numbers", key));
    }
    m_complete[key] = values;
    return values;
}

Result<nlohmann::json> SettingsReader::finish() {
    for (const auto& [key, value] : m_given.items()) {
        if (!m_asked.contains(key)) fail(fmt::format("There is no setting called '{}' here", shortened(key, kShown)), fmt::format("Known: {}.", fmt::join(m_asked, ", ")));
    }
    if (m_problem) return *m_problem;
    return m_complete;
}

}  // namespace kernelscope
