#include "core/records/protocol.h"

#include "core/records/json_read.h"
#include "core/records/rows.h"
#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;

namespace {

json optionalJson(const std::optional<double>& value) { return value ? jsonNumber(*value) : json(nullptr); }

/// What people are shown of an engine's words: a table, or a label of the window, has no use for a megabyte.
constexpr std::size_t kLongestName = 300, kLongestSentence = 1000, kLongestText = 16'384, kLongestKey = 4096;

void shorten(std::string& text, std::size_t bytes) {
    if (text.size() > bytes) text = shortened(text, bytes);
}

/// A code that a newer peer may have added counts as environment: the job cannot go on, the words still say why.
ErrorCode errorCodeOf(std::int64_t number) {
    switch (number) {
        case 1: return ErrorCode::regression;
        case 2: return ErrorCode::wrong;
        case 3: return ErrorCode::cantTell;
        case 64: return ErrorCode::usage;
        case 65: return ErrorCode::badInput;
        case 130: return ErrorCode::cancelled;
        default: return ErrorCode::environment;
    }
}

/// A failure has words, even where the other side has none.
void sayWhy(Error& error) {
    if (!error.message.empty()) return;
    error.message = "the engine failed and did not say why";
    if (error.advice.empty()) error.advice = "see what it wrote before (its lines begin with engine:), and run `doctor`";
}

json errorJson(const Error& error) {
    return {{"code", static_cast<int>(error.code)}, {"message", error.message}, {"advice", error.advice}};
}

template <typename T>
Result<T> finish(const JsonReader& reader, T value) {
    if (!reader.ok()) return reader.error();
    return value;
}

}  // namespace

json toJson(const DeviceInfo& device) {
    return {{"id", device.id}, {"name", device.name}, {"memory_bytes", device.memoryBytes}, {"free_bytes", device.freeBytes},
            {"default_dtype", device.defaultDtype}, {"problem", device.problem}};
}

json toJson(const Hello& hello) {
    json devices = json::array();
    for (const DeviceInfo& device : hello.devices) devices.push_back(toJson(device));
    return {{"protocol", hello.protocol}, {"version", hello.version}, {"build", hello.build}, {"devices", std::move(devices)}};
}

json toJson(const JobRequest& request) {
    return {{"kind", request.kind}, {"model", request.model}, {"device", request.device}, {"dtype", request.dtype},
            {"seed", request.seed}, {"settings", request.settings}, {"skip", request.skip}, {"give_up", request.giveUp}};
}

json toJson(const JobStarted& started) {
    return {{"environment", started.environment}, {"model", started.model}, {"weights", started.weights},
            {"device", started.device}, {"dtype", started.dtype}, {"settings", started.settings}};
}

json toJson(const Progress& progress) {
    return {{"phase", progress.phase}, {"done", progress.done}, {"total", progress.total},
            {"seconds_left", optionalJson(progress.secondsLeft)}, {"cell", progress.cell}};
}

json toJson(const Finished& finished) {
    json document = {{"status", std::string(toString(finished.status))}, {"headline", finished.headline}, {"result", finished.result}};
    if (finished.status == RunStatus::failed || !finished.error.message.empty()) document["error"] = errorJson(finished.error);
    return document;
}

json toJson(const Telemetry& telemetry) {
    return {{"device", telemetry.device}, {"available", telemetry.available}, {"reason", telemetry.reason},
            {"sm_clock_mhz", optionalJson(telemetry.smClockMhz)}, {"memory_clock_mhz", optionalJson(telemetry.memoryClockMhz)},
            {"temperature_c", optionalJson(telemetry.temperatureC)}, {"power_w", optionalJson(telemetry.powerW)},
            {"throttle", telemetry.throttle},
            {"other_processes", telemetry.otherProcesses ? json(*telemetry.otherProcesses) : json(nullptr)}};
}

json toJson(const RowRecord& record) {
    const RowType* type = findRowType(record.type);
    return {{"type", record.type}, {"key", record.key}, {"row", type ? toJson(*type, record.values) : json::object()}};
}

Result<DeviceInfo> deviceInfoFromJson(const json& object) {
    JsonReader reader(object, "device");
    DeviceInfo device;
    reader.require("id");
    reader.read("id", device.id);
    reader.read("name", device.name);
    reader.read("memory_bytes", device.memoryBytes);
    reader.read("free_bytes", device.freeBytes);
    reader.read("default_dtype", device.defaultDtype);
    reader.read("problem", device.problem);
    shorten(device.name, kLongestName);
    shorten(device.problem, kLongestSentence);
    return finish(reader, std::move(device));
}

Result<Hello> helloFromJson(const json& object) {
    JsonReader reader(object, "engine.hello");
    Hello hello;
    reader.require("protocol");
    reader.read("protocol", hello.protocol);
    reader.read("version", hello.version);
    reader.read("build", hello.build);
    if (const json* devices = reader.find("devices")) {
        if (!devices->is_array()) {
            reader.fail("devices", "is not a list");
        } else {
            for (const json& item : *devices) {
                auto device = deviceInfoFromJson(item);
                if (!device) return device.error();
                hello.devices.push_back(std::move(*device));
            }
        }
    }
    return finish(reader, std::move(hello));
}

Result<JobRequest> jobRequestFromJson(const json& object) {
    JsonReader reader(object, "job.start");
    JobRequest request;
    reader.require("kind");
    reader.read("kind", request.kind);
    reader.read("model", request.model);
    reader.read("device", request.device);
    reader.read("dtype", request.dtype);
    reader.read("seed", request.seed);
    reader.readObject("settings", request.settings);
    reader.read("skip", request.skip);
    reader.read("give_up", request.giveUp);
    return finish(reader, std::move(request));
}

Result<JobStarted> jobStartedFromJson(const json& object) {
    JsonReader reader(object, "answer to job.start");
    JobStarted started;
    started.environment = json::object();
    started.settings = json::object();
    reader.readObject("environment", started.environment);
    reader.read("model", started.model);
    reader.read("weights", started.weights);
    reader.read("device", started.device);
    reader.read("dtype", started.dtype);
    reader.readObject("settings", started.settings);
    for (std::string* name : {&started.model, &started.weights, &started.device, &started.dtype}) shorten(*name, kLongestKey);  // a path may be long
    return finish(reader, std::move(started));
}

Result<Progress> progressFromJson(const json& object) {
    JsonReader reader(object, "job.progress");
    Progress progress;
    reader.read("phase", progress.phase);
    reader.read("done", progress.done);
    reader.read("total", progress.total);
    reader.read("seconds_left", progress.secondsLeft);
    reader.read("cell", progress.cell);
    shorten(progress.phase, kLongestName);
    shorten(progress.cell, kLongestKey);
    return finish(reader, std::move(progress));
}

Result<Finished> finishedFromJson(const json& object) {
    JsonReader reader(object, "job.finished");
    Finished finished;
    std::string status;
    reader.require("status");
    reader.read("status", status);
    reader.read("headline", finished.headline);
    reader.readObject("result", finished.result);
    shorten(finished.headline, kLongestSentence);
    json error = json::object();
    reader.readObject("error", error);
    if (!reader.ok()) return reader.error();

    const auto known = runStatusFromString(status);
    if (!known || *known == RunStatus::running || *known == RunStatus::interrupted)
        reader.fail("status", "is none of done, cancelled, failed");
    else
        finished.status = *known;

    JsonReader inner(error, "job.finished error");
    std::int64_t code = static_cast<int>(ErrorCode::environment);
    inner.read("code", code);
    inner.read("message", finished.error.message);
    inner.read("advice", finished.error.advice);
    finished.error.code = errorCodeOf(code);
    if (!inner.ok()) return inner.error();
    if (finished.status == RunStatus::failed) sayWhy(finished.error);
    shorten(finished.error.message, kLongestText);
    return finish(reader, std::move(finished));
}

Result<Telemetry> telemetryFromJson(const json& object) {
    JsonReader reader(object, "telemetry");
    Telemetry telemetry;
    reader.read("device", telemetry.device);
    reader.read("available", telemetry.available);
    reader.read("reason", telemetry.reason);
    reader.read("sm_clock_mhz", telemetry.smClockMhz);
    reader.read("memory_clock_mhz", telemetry.memoryClockMhz);
    reader.read("temperature_c", telemetry.temperatureC);
    reader.read("power_w", telemetry.powerW);
    reader.read("throttle", telemetry.throttle);
    reader.read("other_processes", telemetry.otherProcesses);
    return finish(reader, std::move(telemetry));
}

Result<RowRecord> rowRecordFromJson(const json& object) {
    JsonReader reader(object, "job.row");
    RowRecord record;
    reader.require("type");
    reader.require("row");
    reader.read("type", record.type);
    reader.read("key", record.key);
    if (!reader.ok()) return reader.error();
    const RowType* type = findRowType(record.type);
    if (!type) return makeError(ErrorCode::badInput, "job.row: there is no row type '" + record.type + "'");
    auto values = valuesFromJson(*type, *reader.find("row"));
    if (!values) return values.error();
    record.values = std::move(*values);
    if (record.key.size() > kLongestKey) return makeError(ErrorCode::badInput, "job.row: a key of " + std::to_string(record.key.size()) + " bytes names no row");
    for (Value& value : record.values)
        if (auto* text = std::get_if<std::string>(&value)) shorten(*text, kLongestText);
    return record;
}

std::string requestLine(std::int64_t id, const std::string& method, const json& params) {
    return dumpJson({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}) + "\n";
}

std::string notificationLine(const std::string& method, const json& params) {
    return dumpJson({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}) + "\n";
}

std::string responseLine(const json& id, const json& result) {
    return dumpJson({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}) + "\n";
}

std::string errorLine(const json& id, int rpcCode, const Error& error) {
    return dumpJson({{"jsonrpc", "2.0"}, {"id", id},
                     {"error", {{"code", rpcCode}, {"message", error.message},
                                {"data", {{"code", static_cast<int>(error.code)}, {"advice", error.advice}}}}}}) + "\n";
}

Result<RpcMessage> parseLine(std::string_view line) {
    const auto parsed = parseJson(line);
    if (!parsed) return makeError(ErrorCode::usage, "parse error");
    const json& document = *parsed;
    const auto invalid = [](std::string why) { return makeError(ErrorCode::usage, "invalid request: " + std::move(why)); };
    if (!document.is_object()) return invalid("not an object");
    if (document.value("jsonrpc", json()) != "2.0") return invalid("jsonrpc is not \"2.0\"");

    RpcMessage message;
    if (const auto id = document.find("id"); id != document.end()) {
        if (!id->is_null() && !id->is_string() && !id->is_number()) return invalid("id is neither a number nor text");
        message.id = *id;
    }
    if (const auto method = document.find("method"); method != document.end()) {
        if (!method->is_string() || method->get_ref<const std::string&>().empty()) return invalid("method is not text");
        message.method = method->get<std::string>();
        if (const auto params = document.find("params"); params != document.end() && !params->is_null()) {
            if (!params->is_object()) return invalid("params is not an object");
            message.params = *params;
        }
        return message;
    }

    const auto result = document.find("result");
    const auto error = document.find("error");
    if ((result == document.end()) == (error == document.end())) return invalid("neither a method nor one of result and error");
    if (!document.contains("id")) return invalid("an answer without an id");
    if (result != document.end()) {
        message.result = *result;
        return message;
    }
    JsonReader reader(*error, "error");
    Error held;
    json data = json::object();
    reader.read("message", held.message);
    reader.readObject("data", data);
    JsonReader inner(data, "error data");
    std::int64_t code = static_cast<int>(ErrorCode::environment);
    inner.read("code", code);
    inner.read("advice", held.advice);
    if (!reader.ok()) return invalid(reader.error().message);
    if (!inner.ok()) return invalid(inner.error().message);
    held.code = errorCodeOf(code);
    sayWhy(held);
    shorten(held.message, kLongestText);
    message.error = std::move(held);
    return message;
}

}  // namespace kernelscope
