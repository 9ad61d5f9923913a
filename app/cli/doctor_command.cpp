#include <condition_variable>
#include <mutex>

#include "app/cli/command.h"
#include "app/cli/engine_wait.h"
#include "app/cli/terminal.h"
#include "core/client/doctor.h"
#include "core/client/export.h"
#include "core/records/csv.h"
#include "core/records/plain_table.h"

namespace kernelscope::cli {

namespace {

/// What an engine says about itself in its first moments.
struct Examination {
    Result<Hello> hello = makeError(ErrorCode::environment, "the engine was not started");
    std::optional<Telemetry> telemetry;
    std::vector<DoctorRow> more;
};

Examination examine(const CommonOptions& common) {
    Examination found;
    auto options = sessionOptions(common);
    if (!options) {
        found.hello = options.error();
        return found;
    }
    options->telemetryIntervalMs = 100;
    std::mutex mutex;
    std::condition_variable changed;
    bool answered = false, cancelled = false;
    StopSignals signals([&] {
        const std::lock_guard lock(mutex);
        cancelled = true;
        changed.notify_all();
    });
    EngineWait waiting(common, *options);
    SessionListener listener;
    listener.hello = [&](const Hello& hello) {
        waiting.over();
        const std::lock_guard lock(mutex);
        found.hello = hello;
    };
    listener.telemetry = [&](const Telemetry& telemetry) {
        const std::lock_guard lock(mutex);
        found.telemetry = telemetry;
        changed.notify_all();
    };
    Session session(*options, nullptr, std::move(listener));
    session.call("engine.doctor", nlohmann::json::object(), [&](Result<nlohmann::json> answer) {
        const std::lock_guard lock(mutex);
        found.more = checksFromEngine(answer);
        if (!answer && !found.hello.ok()) found.hello = answer.error();
        answered = true;
        changed.notify_all();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answered || cancelled; });
    // Telemetry comes a moment after hello; an engine that has none says so at once.
    if (found.hello.ok() && !cancelled) changed.wait_for(lock, std::chrono::seconds(2), [&] { return found.telemetry || cancelled; });
    if (cancelled) found.hello = makeError(ErrorCode::cancelled, "cancelled");
    Examination result = found;
    lock.unlock();  // the session's end may still call back
    return result;
}

class DoctorCommand : public Command {
public:
    std::string name() const override { return "doctor"; }
    std::string summary() const override { return "What works on this machine, and what to do about the rest"; }
    void define(CLI::App&) override {}

    int run(const CommonOptions& common) override {
        if (const auto ready = prepareDocuments(common); !ready) return report(ready.error());
        const Examination found = examine(common);
        if (!found.hello && found.hello.error().code == ErrorCode::cancelled) return report(found.hello.error());
        std::vector<DoctorRow> rows = engineChecks(found.hello);
        if (found.hello) rows.push_back(telemetryCheck(found.telemetry));
        rows.insert(rows.end(), found.more.begin(), found.more.end());
        rows.push_back(storeCheck(storePath(common)));

        const RowType type = rowTypeOf<DoctorRow>();
        std::string csv = csvHeader(type), text;
        std::vector<RowRecord> records;
        bool failed = false;
        for (const DoctorRow& row : rows) {
            records.push_back({"doctor", row.check, valuesOf(row)});
            csv += csvLine(std::span<const Value>(records.back().values));
            failed = failed || row.status == "failed";
            text += row.check + ": " + row.status + "\n  " + row.finding + "\n";
            if (row.status != "ok") text += "  It matters for: " + row.why + "\n" + (row.fix.empty() ? "" : "  " + row.fix + "\n");
        }
        if (!common.documentOnOutput() && !common.quiet) print(text);
        if (const int code = writeDocument(common.csv, csv)) return code;
        if (!common.json.empty())
            if (const int code = writeDocument(common.json, jsonDocument(headerWithoutRun(common, "doctor"), type, records))) return code;
        return failed ? static_cast<int>(ErrorCode::environment) : 0;
    }
};

}  // namespace

std::unique_ptr<Command> makeDoctorCommand() { return std::make_unique<DoctorCommand>(); }

}  // namespace kernelscope::cli
