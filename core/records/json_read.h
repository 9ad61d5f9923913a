#pragma once
// Reading values out of JSON that came from somewhere else: nothing throws, a wrong kind is an error that names the key.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/result.h"

namespace kernelscope {

/// Nesting that no message or document of ours comes near; deeper input would cost stack when it is written again.
inline constexpr int kMaxJsonDepth = 64;

/// Parses text; nullopt when it is no JSON, holds invalid UTF-8, or nests deeper than kMaxJsonDepth.
std::optional<nlohmann::json> parseJson(std::string_view text);
/// Why parseJson did not take a text, for people: "it is empty", "line 3, column 7: syntax error ...".
std::string whyNoJson(std::string_view text);

/// One line of JSON. Invalid UTF-8 in strings becomes U+FFFD, NaN becomes null.
std::string dumpJson(const nlohmann::json& document, int indent = -1);

/// An exact integer, or nullopt for everything else (fractions, huge numbers and strings included).
std::optional<std::int64_t> integerOf(const nlohmann::json& value);
/// A number, or one of the strings "nan", "inf", "-inf".
std::optional<double> numberOf(const nlohmann::json& value);
/// The reverse of numberOf.
nlohmann::json jsonNumber(double value);

/// Reads the members of one object. The first failure is kept; afterwards every call does nothing.
/// An absent or null member leaves the target as it is.
class JsonReader {
public:
    /// `what` names the object in messages: "job.start".
    JsonReader(const nlohmann::json& object, std::string what);

    void read(std::string_view key, std::string& target);
    void read(std::string_view key, std::int64_t& target);
    void read(std::string_view key, int& target);
    void read(std::string_view key, bool& target);
    void read(std::string_view key, double& target);
    void read(std::string_view key, std::optional<double>& target);
    void read(std::string_view key, std::optional<std::int64_t>& target);
    void read(std::string_view key, std::vector<std::string>& target);
    /// Only objects are taken.
    void readObject(std::string_view key, nlohmann::json& target);
    /// Fails when the member is absent or null.
    void require(std::string_view key);
    void fail(std::string_view key, std::string_view cause);

    [[nodiscard]] bool ok() const { return !m_error.has_value(); }
    [[nodiscard]] Error error() const { return m_error.value_or(Error{}); }
    /// The member, or nullptr when it is absent or null, or after a failure.
    [[nodiscard]] const nlohmann::json* find(std::string_view key) const;

private:
    const nlohmann::json& m_object;
    std::string m_what;
    std::optional<Error> m_error;
};

}  // namespace kernelscope
