#pragma once
// A run: one header, written once and completed once, plus rows.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/row.h"

namespace kernelscope {

/// Version of the JSON document and of the store. Readers accept every older one and refuse a newer one.
inline constexpr int kSchemaVersion = 1;

enum class RunStatus { running, done, cancelled, failed, interrupted };
std::string_view toString(RunStatus status);
std::optional<RunStatus> runStatusFromString(std::string_view text);

struct RunHeader {
    std::string id;       ///< short, unique in its store: lower-case letters and digits
    std::string when;     ///< ISO 8601, UTC, seconds: 2026-01-31T12:34:56Z
    std::string kind;     ///< profile, validate, sweep, generate, e2e: also the type of its own rows
    std::string command;  ///< the command line that repeats it
    nlohmann::json environment = nlohmann::json::object();  ///< gpu, driver, cuda, libtorch, clocks, cpu, ...
    std::string model;    ///< display name, such as Qwen2.5-0.5B, or the folder
    std::string weights;  ///< "random" or "file"
    std::string device;   ///< display name of the device
    std::string dtype;    ///< the type that ran, never "auto"
    nlohmann::json settings = nlohmann::json::object();
    std::int64_t seed = 0;
    RunStatus status = RunStatus::running;
    std::string reason;   ///< why it was cancelled, failed or interrupted
    std::string headline; ///< the computed sentence or figure, for lists
    nlohmann::json result = nlohmann::json::object();  ///< kinds with figures of their own beside rows (generate)
};

/// {"schema": 1, "kind": ..., "run": {...}} without rows.
nlohmann::json toJson(const RunHeader& header);
/// Reads what toJson wrote; unknown keys are ignored, a newer schema is refused in words.
Result<RunHeader> runHeaderFromJson(const nlohmann::json& document);

/// A row as it travels and is stored: its type's name, its key (unique in its run and type; a later row with
/// the same key replaces the earlier one), its values in column order.
struct RowRecord {
    std::string type;
    std::string key;
    Values values;
};

}  // namespace kernelscope
