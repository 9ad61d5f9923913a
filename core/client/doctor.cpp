#include "core/client/doctor.h"

#include "core/client/store.h"
#include "core/records/format.h"
#include "core/records/json_read.h"

namespace kernelscope {

namespace {
constexpr const char* kCudaWhy = "GPU kernels, graph mode and level kernel; everything else works on the CPU";
constexpr const char* kCudaFix = "install the NVIDIA driver, or run the engine on a machine that has a GPU: --engine \"ssh host kernelscope-engine\"";
}  // namespace

std::vector<DoctorRow> engineChecks(const Result<Hello>& hello) {
    const std::string why = "the engine runs the model and the kernels; saved runs open without it";
    if (!hello) return {{"engine", "failed", hello.error().message, why, hello.error().advice}};
    std::vector<DoctorRow> rows{{"engine", "ok", "version " + hello->version + (hello->build.empty() ? "" : ", " + hello->build), why, ""}};
    bool cuda = false;
    for (const DeviceInfo& device : hello->devices) {
        DoctorRow row{"device " + device.id, "ok", device.name, "where a model can run", ""};
        if (device.memoryBytes > 0)
            row.finding += ", " + formatBytes(static_cast<double>(device.freeBytes)) + " of " + formatBytes(static_cast<double>(device.memoryBytes)) + " free";
        if (!device.problem.empty()) {
            // "cuda:1" is a device that is there and cannot be used; plain "cuda" stands for there being none.
            const bool absent = device.id == "cuda";
            row.status = absent ? "unavailable" : "failed";
            row.finding = (row.finding.empty() || absent ? "" : row.finding + ": ") + device.problem;
            row.why = absent ? kCudaWhy : row.why;
            row.fix = absent ? kCudaFix : "the finding says what is missing; other devices work without it";
        }
        cuda = cuda || device.id.starts_with("cuda");
        rows.push_back(std::move(row));
    }
    if (!cuda)
        rows.push_back({"device cuda", "unavailable", "the engine sees no CUDA device", kCudaWhy, kCudaFix});
    return rows;
}

DoctorRow telemetryCheck(const std::optional<Telemetry>& telemetry) {
    const std::string why = "clocks, temperature and throttling beside each measurement";
    if (!telemetry) return {"telemetry", "warning", "the engine sent none", why, "measurements work without it"};
    if (!telemetry->available) return {"telemetry", "unavailable", telemetry->reason, why, "measurements work without it"};
    std::string finding = telemetry->device;
    if (telemetry->smClockMhz) finding += ", SM " + formatSignificant(*telemetry->smClockMhz, 4) + " MHz";
    if (telemetry->temperatureC) finding += ", " + formatSignificant(*telemetry->temperatureC) + " C";
    if (telemetry->powerW) finding += ", " + formatSignificant(*telemetry->powerW) + " W";
    DoctorRow row{"telemetry", "ok", finding, why, ""};
    for (const std::string& reason : telemetry->throttle) row.finding += ", throttled: " + reason;
    if (telemetry->otherProcesses.value_or(0) > 0) row.finding += ", " + std::to_string(*telemetry->otherProcesses) + " other processes on the device";
    if (!telemetry->throttle.empty() || telemetry->otherProcesses.value_or(0) > 0) {
        row.status = "warning";
        row.fix = "figures taken now are marked; wait until the device is cool and alone";
    }
    return row;
}

DoctorRow storeCheck(const std::filesystem::path& file) {
    const std::string why = "runs are kept there, row by row";
    const auto store = Store::open(file);
    if (!store) {
        const auto readable = Store::openToRead(file);
        return {"store", readable ? "warning" : "failed", store.error().message + (readable ? "; its runs can be read" : ""), why, store.error().advice};
    }
    const auto runs = (*store)->runs();
    if (!runs) return {"store", "failed", runs.error().message, why, runs.error().advice};
    return {"store", "ok", file.string() + ", " + std::to_string(runs->size()) + " runs", why, ""};
}

std::vector<DoctorRow> checksFromEngine(const Result<nlohmann::json>& answer) {
    std::vector<DoctorRow> rows;
    if (!answer || !answer->is_object()) return rows;
    const auto checks = answer->find("checks");
    if (checks == answer->end() || !checks->is_array()) return rows;
    const RowType type = rowTypeOf<DoctorRow>();
    for (const nlohmann::json& check : *checks)
        if (const auto values = valuesFromJson(type, check))
            if (auto row = rowFrom<DoctorRow>(*values)) rows.push_back(std::move(*row));
    return rows;
}

}  // namespace kernelscope
