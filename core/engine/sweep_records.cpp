#include "core/engine/sweep_records.h"

#include <optional>

#include <fmt/format.h>

#include "core/measure/validate_row.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {

void sendSamples(const std::string& key, const CellSamples& samples, const JobContext& context) {
    const auto one = [&](const char* metric, std::int64_t pass, double value) {
        context.row(fmt::format("{}/{}/{}", key, metric, pass), SampleRow{key, metric, pass, value});
    };
    for (std::size_t i = 0; i < samples.deviceUs.size(); ++i) one("device_us", static_cast<std::int64_t>(i), samples.deviceUs[i]);
    for (std::size_t i = 0; i < samples.callUs.size(); ++i) one("call_us", static_cast<std::int64_t>(i), samples.callUs[i]);
    for (std::size_t i = 0; i < samples.states.size(); ++i) {
        const Telemetry& state = samples.states[i];
        const std::int64_t pass = static_cast<std::int64_t>(i) * samples.roundsBetween;
        if (state.smClockMhz) one("sm_clock_mhz", pass, *state.smClockMhz);
        if (state.memoryClockMhz) one("memory_clock_mhz", pass, *state.memoryClockMhz);
        if (state.temperatureC) one("temperature_c", pass, *state.temperatureC);
        if (state.powerW) one("power_w", pass, *state.powerW);
        if (state.otherProcesses) one("other_processes", pass, static_cast<double>(*state.otherProcesses));
        one("throttle_reasons", pass, static_cast<double>(state.throttle.size()));
    }
}

void sendErrorMap(const ValidateRow& cell, const CaseOutcome& outcome, const JobContext& context) {
    if (const auto map = errorMapOf(outcome, cell)) context.row(rowKey(*map), *map);
}

void sendRoofline(RooflineRow row, const Work& work, const DeviceLimits& limits, double matmulFlopsPerSecond, const JobContext& context) {
    const auto known = [](double value, double unit) { return value > 0 ? std::optional(value / unit) : std::nullopt; };
    row.bytes = work.bytes;
    row.flops = work.flops;
    row.copyGbPerS = known(limits.copyBytesPerSecond, 1e9);
    row.matmulGflopPerS = known(matmulFlopsPerSecond, 1e9);
    row.launchFloorUs = known(limits.launchFloorUs, 1);
    context.row(rowKey(row), row);
}

}  // namespace kernelscope
