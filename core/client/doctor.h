#pragma once
// What works on this machine, and what to do about the rest: checks that need no job.

#include <filesystem>
#include <vector>

#include "core/records/protocol.h"
#include "core/records/row.h"

namespace kernelscope {

struct DoctorRow {
    std::string check;
    std::string status;   ///< ok, warning, failed, unavailable
    std::string finding;
    std::string why;      ///< why it matters
    std::string fix;

    bool operator==(const DoctorRow&) const = default;
};

template <>
struct RowSchema<DoctorRow> {
    static constexpr std::string_view kName = "doctor";
    static constexpr auto kFields = std::tuple{
        field("check", &DoctorRow::check), field("status", &DoctorRow::status), field("finding", &DoctorRow::finding),
        field("why", &DoctorRow::why),     field("fix", &DoctorRow::fix),
    };
};

/// The engine, and each device it told of; an engine that does not start is one failed row.
std::vector<DoctorRow> engineChecks(const Result<Hello>& hello);
/// Telemetry of a device, as it arrived or did not.
DoctorRow telemetryCheck(const std::optional<Telemetry>& telemetry);
/// Opens the store, and makes one where there is none yet.
DoctorRow storeCheck(const std::filesystem::path& file);
/// Checks of the engine's own, from its answer {checks: [{check, status, ...}]}; nothing from an engine that has none.
std::vector<DoctorRow> checksFromEngine(const Result<nlohmann::json>& answer);

}  // namespace kernelscope
