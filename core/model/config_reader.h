#pragma once
// Reads single keys of a config.json and keeps the first objection, naming the key.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/records/result.h"

namespace kernelscope {

/// Null counts as absent everywhere. Once something was refused, later calls change nothing.
class ConfigReader {
public:
    explicit ConfigReader(const nlohmann::json& object, std::string prefix = {}) : m_object(object), m_prefix(std::move(prefix)) {}

    /// A whole number within [least, most]; 112.0 is one, 112.5 and "112" are not.
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
    std::optional<double> number(std::string_view key);
    std::optional<bool> boolean(std::string_view key);
    std::optional<std::string> text(std::string_view key);
    const nlohmann::json* value(std::string_view key) const;  ///< nullptr when absent or null

    /// The same, but the key must be there.
    std::int64_t requiredInteger(std::string_view key, std::int64_t least, std::int64_t most);

    void refuse(std::string_view key, std::string_view words, std::string advice);
    /// Takes over the objection of a reader of something inside this object.
    void adopt(const ConfigReader& inner) {
        if (!m_error) m_error = inner.m_error;
    }
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    void wrongKind(std::string_view key, std::string_view wanted, const nlohmann::json& found);

    const nlohmann::json& m_object;
    std::string m_prefix;
    std::optional<Error> m_error;
};

}  // namespace kernelscope
