#include "core/records/run.h"

#include "core/records/json_read.h"
#include "core/records/rows.h"
#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;

namespace {

constexpr std::pair<RunStatus, std::string_view> kStatusNames[] = {
    {RunStatus::running, "running"},     {RunStatus::done, "done"},
    {RunStatus::cancelled, "cancelled"}, {RunStatus::failed, "failed"},
    {RunStatus::interrupted, "interrupted"},
};

/// Members of the document that are not figures of the run's own: its frame, and lists of rows by their type.
bool isReserved(std::string_view key) {
    return key == "schema" || key == "kind" || key == "run" || key == "rows" || key == "samples" || findRowType(key);
}

}  // namespace

std::string_view toString(RunStatus status) {
    for (const auto& [value, name] : kStatusNames)
        if (value == status) return name;
    return "failed";
}

std::optional<RunStatus> runStatusFromString(std::string_view text) {
    for (const auto& [value, name] : kStatusNames)
        if (name == text) return value;
    return std::nullopt;
}

json toJson(const RunHeader& header) {
    json document = header.result.is_object() ? header.result : json::object();
    for (auto it = document.begin(); it != document.end();) it = isReserved(it.key()) ? document.erase(it) : std::next(it);
    document["schema"] = kSchemaVersion;
    document["kind"] = header.kind;
    document["run"] = {
        {"id", header.id},
        {"when", header.when},
        {"command", header.command},
        {"environment", header.environment},
        {"model", header.model},
        {"weights", header.weights},
        {"device", header.device},
        {"dtype", header.dtype},
        {"settings", header.settings},
        {"seed", header.seed},
        {"status", std::string(toString(header.status))},
        {"reason", header.reason},
        {"headline", header.headline},
    };
    return document;
}

Result<RunHeader> runHeaderFromJson(const json& document) {
    JsonReader top(document, "run document");
    std::int64_t schema = 0;
    RunHeader header;
    top.require("schema");
    top.read("schema", schema);
    if (top.ok() && schema > kSchemaVersion)
        return makeError(ErrorCode::badInput,
                         "this document has schema " + std::to_string(schema) + ", newer than the " +
                             std::to_string(kSchemaVersion) + " this program reads",
                         "open it with a newer Kernelscope");
    if (top.ok() && schema < 1) top.fail("schema", "is not a version");
    top.require("kind");
    top.read("kind", header.kind);
    json inner = json::object();
    top.require("run");
    top.readObject("run", inner);
    if (!top.ok()) return top.error();

    JsonReader run(inner, "run");
    run.read("id", header.id);
    run.read("when", header.when);
    run.read("command", header.command);
    run.readObject("environment", header.environment);
    run.read("model", header.model);
    run.read("weights", header.weights);
    run.read("device", header.device);
    run.read("dtype", header.dtype);
    run.readObject("settings", header.settings);
    run.read("seed", header.seed);
    std::string status(toString(RunStatus::done));
    run.read("status", status);
    run.read("reason", header.reason);
    run.read("headline", header.headline);
    constexpr std::size_t kLongestHeadline = 1000;  // a sentence; a file may claim anything
    header.headline = shortened(header.headline, kLongestHeadline);
    if (const auto known = runStatusFromString(status)) header.status = *known;
    else run.fail("status", "is none of running, done, cancelled, failed, interrupted");
    if (!run.ok()) return run.error();

    for (const auto& [key, value] : document.items())
        if (!isReserved(key)) header.result[key] = value;
    return header;
}

}  // namespace kernelscope
