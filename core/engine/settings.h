#pragma once
// A job's settings: typed reads with defaults, ranges checked, unknown keys refused by name.

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/result.h"

namespace kernelscope {

/// Reads every key once, then finish() refuses what nobody asked for. The first problem is kept and later reads return
/// defaults, so that a job reads all its settings in a row and checks once.
class SettingsReader {
public:
    explicit SettingsReader(const nlohmann::json& settings);

    std::int64_t integer(const char* key, std::int64_t fallback, std::int64_t low, std::int64_t high);
    double number(const char* key, double fallback, double low, double high);
    bool flag(const char* key, bool fallback);
    std::string text(const char* key, const std::string& fallback);
    std::string choice(const char* key, const std::string& fallback, std::initializer_list<std::string> choices);
    std::vector<std::int64_t> integers(const char* key);

    /// All settings with defaults filled in, or the first problem (usage).
    Result<nlohmann::json> finish();

private:
    const nlohmann::json* find(const char* key);
    void fail(std::string message, std::string advice = {});

    nlohmann::json m_given;
    nlohmann::json m_complete = nlohmann::json::object();
    std::set<std::string> m_asked;
    std::optional<Error> m_problem;
};

}  // namespace kernelscope
