#pragma once
// The engine protocol: JSON-RPC 2.0, one message a line. These value types are all that client and engine share.
//   client -> engine   engine.hello {protocol}                        -> Hello
//                      device.list {}                                 -> {devices: [DeviceInfo]}
//                      engine.doctor {}                               -> {checks: [{check, status, finding, why, fix}]}
//                      model.inspect {model}                          -> inspect document (command line contract)
//                      folder.list {path}                             -> {path, parent, model, folders: [{name, model}], left_out}
//                      model.tokenize {model, text|ids, chat}         -> {ids, tokens, text}
//                      kernel.version {file}                          -> {file, variant, version}: a kernel of the user's own, as it stands
//                      kernel.inspect {file, device}                  -> {file, variant, version, kind, operators, log, resources}: compiled, loaded
//                      kernel.launcher {file}                         -> {text, version, options}: launch of a .cu as a C function; compiler's options
//                      job.start JobRequest                           -> JobStarted   (refused while one runs); job.cancel {} -> {}
//                      telemetry.start {device, interval_ms}          -> {}
//   engine -> client   job.progress Progress (and kernel: kernel_fault.h), job.row RowRecord, job.finished Finished, telemetry Telemetry, log {level, text}
// Every accepted job ends with exactly one job.finished. A line that is no valid request is answered with a
// JSON-RPC error and nothing else happens. Errors carry our Error in "data": {code, advice}.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/result.h"
#include "core/records/run.h"

namespace kernelscope {

inline constexpr int kProtocolVersion = 1;

struct DeviceInfo {
    std::string id;            ///< "cpu", "cuda:0": what --device takes
    std::string name;          ///< "NVIDIA H200", the CPU's model name
    std::int64_t memoryBytes = 0;
    std::int64_t freeBytes = 0;
    std::string defaultDtype;  ///< what "auto" means for presets
    std::string problem;       ///< why it cannot be used; empty when it can
};

struct Hello {
    int protocol = kProtocolVersion;
    std::string version;  ///< of the program
    std::string build;    ///< "libtorch 2.11.0, CUDA 13.0, sm_90" or "libtorch 2.11.0, no CUDA"
    std::vector<DeviceInfo> devices;
};

struct JobRequest {
    std::string kind;      ///< profile, generate, ...
    std::string model = "qwen2.5-0.5b";  ///< preset, folder or hub id
    std::string device = "auto";
    std::string dtype = "auto";
    std::int64_t seed = 0;
    nlohmann::json settings = nlohmann::json::object();  ///< the options of the command, long names with _ for -
    std::vector<std::string> skip;  ///< keys of rows already measured
    std::vector<std::string> giveUp;  ///< "op|variant" that crashed too often: its remaining cells become `skipped`, saying so
};

/// What the engine found out before it began: the client writes it to the run's header.
struct JobStarted {
    nlohmann::json environment;
    std::string model;    ///< display name
    std::string weights;  ///< random or file
    std::string device;   ///< display name
    std::string dtype;
    nlohmann::json settings;  ///< complete: defaults filled in
};

struct Progress {
    std::string phase;  ///< words for people: "Loading weights", "Decode passes"
    std::int64_t done = 0;
    std::int64_t total = 0;  ///< 0: not known
    std::optional<double> secondsLeft;
    std::string cell;   ///< key of the row being measured, for crash reports; may be empty
};

struct Finished {
    RunStatus status = RunStatus::done;  ///< done, cancelled or failed
    Error error;                         ///< when failed: what and how to mend it
    std::string headline;
    nlohmann::json result = nlohmann::json::object();
};

/// State of the device, once a second or so. Fields the driver does not tell stay empty.
struct Telemetry {
    std::string device;
    bool available = false;
    std::string reason;  ///< why not available: "NVML is not installed (libnvidia-ml.so.1 not found)"
    std::optional<double> smClockMhz, memoryClockMhz, temperatureC, powerW;
    std::vector<std::string> throttle;  ///< reasons in words; empty: none
    std::optional<std::int64_t> otherProcesses;
};

nlohmann::json toJson(const DeviceInfo&);
nlohmann::json toJson(const Hello&);
nlohmann::json toJson(const JobRequest&);
nlohmann::json toJson(const JobStarted&);
nlohmann::json toJson(const Progress&);
nlohmann::json toJson(const Finished&);
nlohmann::json toJson(const Telemetry&);
nlohmann::json toJson(const RowRecord&);  ///< {type, key, row: {column: value}}

Result<Hello> helloFromJson(const nlohmann::json&);
Result<DeviceInfo> deviceInfoFromJson(const nlohmann::json&);
Result<JobRequest> jobRequestFromJson(const nlohmann::json&);
Result<JobStarted> jobStartedFromJson(const nlohmann::json&);
Result<Progress> progressFromJson(const nlohmann::json&);
Result<Finished> finishedFromJson(const nlohmann::json&);
Result<Telemetry> telemetryFromJson(const nlohmann::json&);
Result<RowRecord> rowRecordFromJson(const nlohmann::json&);

/// One line as it travels, newline included. Invalid UTF-8 in strings is replaced, never thrown.
std::string requestLine(std::int64_t id, const std::string& method, const nlohmann::json& params);
std::string notificationLine(const std::string& method, const nlohmann::json& params);
std::string responseLine(const nlohmann::json& id, const nlohmann::json& result);
std::string errorLine(const nlohmann::json& id, int rpcCode, const Error& error);

/// A parsed line: a request (method and id), a notification (method), or a response (id; result or error).
struct RpcMessage {
    std::string method;
    nlohmann::json id;
    nlohmann::json params = nlohmann::json::object();
    std::optional<nlohmann::json> result;
    std::optional<Error> error;
};

/// Errors: usage with the JSON-RPC words "parse error" or "invalid request".
Result<RpcMessage> parseLine(std::string_view line);

}  // namespace kernelscope
