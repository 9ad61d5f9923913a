#pragma once
// A session with a scripted engine and a store of its own, and everything the session reported.

#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/client/session.h"
#include "core/client/store.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope {

using test::TemporaryFolder;

class ScriptedSession {
public:
    /// Written once the session's thread has called back; read by the test after wait() or finish().
    std::vector<EngineState> states;
    std::vector<std::string> reasons;
    std::vector<RunHeader> started;
    std::vector<Progress> progress;
    std::vector<RowRecord> rows;
    std::vector<std::pair<RunHeader, Finished>> finished;
    std::vector<Hello> hellos;
    int telemetry = 0;
    /// Called on the session's thread at each of them.
    std::function<void()> atStarted, atRow, atProgress;

    explicit ScriptedSession(const std::string& script, std::string kind = "profile") : m_kind(std::move(kind)) {
        std::ofstream(m_folder / "script") << script;
        auto opened = Store::open(m_folder / "runs.sqlite");
        EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
        store = std::move(*opened);
        options.engine.argv = {KERNELSCOPE_SCRIPTED_ENGINE, (m_folder / "script").string()};
        options.telemetryIntervalMs = 0;
        options.helloDeadline = std::chrono::seconds(20);
        options.silenceDeadline = std::chrono::seconds(20);
        request.kind = m_kind;
        request.model = "qwen2.5-tiny";
    }

    /// The session; made on first use, so that options can be changed before.
    Session& session() {
        if (!m_session) {
            SessionListener listener;
            listener.engineState = [this](EngineState state, const std::string& why) { states.push_back(state); reasons.push_back(why); };
            listener.hello = [this](const Hello& hello) { hellos.push_back(hello); };
            listener.telemetry = [this](const Telemetry&) { ++telemetry; };
            listener.jobStarted = [this](const RunHeader& run) { started.push_back(run); if (atStarted) atStarted(); };
            listener.progress = [this](const Progress& step) { progress.push_back(step); if (atProgress) atProgress(); };
            listener.row = [this](const RowRecord& row) { rows.push_back(row); if (atRow) atRow(); };
            listener.jobFinished = [this](const RunHeader& run, const Finished& end) { finished.emplace_back(run, end); };
            listener.log = [this](const std::string& line) {  // comes between jobs too
                const std::lock_guard lock(m_logMutex);
                m_log.push_back(line);
            };
            m_session = std::make_unique<Session>(options, storeUsed ? store.get() : nullptr, std::move(listener));
        }
        return *m_session;
    }

    /// Runs one job to its end and checks what holds for every job: one end, and a store that agrees with it.
    const Finished& runJob() {
        const std::size_t before = finished.size();
        EXPECT_TRUE(session().start(request, "kernelscope-cli " + m_kind).ok());
        session().wait();
        EXPECT_EQ(finished.size(), before + 1) << "exactly one jobFinished";
        const auto& [header, end] = finished.back();
        EXPECT_EQ(header.status, end.status);
        if (!header.id.empty() && storeUsed) {
            const auto kept = store->run(header.id);
            EXPECT_TRUE(kept.ok());
            EXPECT_EQ(toJson(kept->header), toJson(header));
        }
        return end;
    }

    void stop() { m_session.reset(); }

    std::vector<std::string> keysInStore(const std::string& type) const {
        std::vector<std::string> keys;
        for (const RowRecord& row : *store->rows(finished.back().first.id, type)) keys.push_back(row.key);
        return keys;
    }
    std::vector<RowRecord> rowsInStore() const { return *store->rows(finished.back().first.id, m_kind); }
    std::string received() const {
        std::ifstream in(m_folder / "script.received");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    int starts() const {
        int count = 0;
        std::ifstream(m_folder / "script.count") >> count;
        return count;
    }
    std::size_t linesLogged() const {
        const std::lock_guard lock(m_logMutex);
        return m_log.size();
    }
    bool logged(const std::string& part) const {
        const std::lock_guard lock(m_logMutex);
        for (const std::string& line : m_log)
            if (line.find(part) != std::string::npos) return true;
        return false;
    }

    SessionOptions options;
    JobRequest request;
    std::unique_ptr<Store> store;
    bool storeUsed = true;

private:
    std::string m_kind;
    mutable std::mutex m_logMutex;
    std::vector<std::string> m_log;
    TemporaryFolder m_folder;
    std::unique_ptr<Session> m_session;
};

// Pieces of scripts.
inline const std::string kHello = "await engine.hello\nhello\n";
inline const std::string kStarted =
    "await job.start\n"
    R"(answer {"environment": {"cpu": "scripted CPU"}, "model": "Qwen2.5-tiny", "weights": "random", "device": "scripted CPU", "dtype": "float32", "settings": {"iterations": 3}})"
    "\n";
inline std::string profileRow(const std::string& name, double span) {
    return R"(send job.row {"type": "profile", "key": ")" + name + R"(", "row": {"phase": "decode", "level": "type", "name": ")" + name +
           R"(", "type": ")" + name + R"(", "span_us": )" + std::to_string(span) + R"(, "self_span_us": )" + std::to_string(span) + "}}\n";
}
inline const std::string kDone = R"(send job.finished {"status": "done", "headline": "all well", "result": {"figure": 7}})" "\n";
inline const std::string kCell = "rms_norm|fast|float16|896|8|basic";
inline std::string cellProgress(const std::string& key) { return R"(send job.progress {"phase": "Validating", "cell": ")" + key + "\"}\n"; }
inline std::string cellRow(const std::string& key, const std::string& variant, int rows) {
    return R"(send job.row {"type": "validate", "key": ")" + key + R"(", "row": {"op": "rms_norm", "variant": ")" + variant +
           R"(", "dtype": "float16", "hidden": 896, "rows": )" + std::to_string(rows) + R"(, "case": "basic", "status": "ok"}})" "\n";
}

}  // namespace kernelscope
