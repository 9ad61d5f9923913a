#include "core/client/spread.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "core/client/run_writer.h"
#include "core/records/headline.h"
#include "core/records/json_read.h"
#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;

namespace {

/// Adds the numbers of the same name: counts of statuses and verdicts.
void addCounts(json& sum, const json& part) {
    for (const auto& [name, value] : part.items()) {
        const auto count = integerOf(value);
        const auto before = sum.find(name);
        constexpr std::int64_t kMost = 1'000'000'000'000'000;  // counts are the engine's word
        if (count && *count >= 0 && *count < kMost) sum[name] = *count + (before == sum.end() ? 0 : integerOf(*before).value_or(0));
    }
}

/// One run for all: the first to open makes it, the last to close ends it.
class SharedRun : public RunWriter {
public:
    SharedRun(Store* store, std::size_t parts, std::string baseline) : RunWriter(store), m_open(parts), m_baseline(std::move(baseline)) {}

    Result<RunHeader> open(const RunHeader& header, const std::string& resumes) override {
        const std::lock_guard lock(m_mutex);
        if (std::find(m_devices.begin(), m_devices.end(), header.device) == m_devices.end()) m_devices.push_back(header.device);
        if (m_header) return *m_header;
        auto opened = RunWriter::open(header, resumes);
        if (opened) m_header = *opened;
        return opened;
    }

    void close(RunHeader& header, Finished& finished) override {
        const std::lock_guard lock(m_mutex);
        // One that failed by itself says more than those that were cancelled because of it.
        const auto rank = [](RunStatus status) { return status == RunStatus::failed ? 2 : status == RunStatus::cancelled ? 1 : 0; };
        if (!m_end || rank(finished.status) > rank(m_end->status)) {
            json result = m_end ? std::move(m_end->result) : json::object();
            m_end = finished;
            std::swap(m_end->result, result);
            addParts(result);
        } else {
            addParts(finished.result);
        }
        if (--m_open > 0) return;
        if (!m_header) m_header = header;
        RunHeader& whole = *m_header;
        for (std::size_t i = 0; i < m_devices.size(); ++i) whole.device = (i ? whole.device + ", " : std::string()) + m_devices[i];
        if (m_store && !whole.id.empty()) m_end->headline = headlineOfAll(whole);
        whole.status = m_end->status;
        whole.reason = whole.status == RunStatus::done ? std::string() : whole.status == RunStatus::cancelled ? "cancelled by the user" : m_end->error.message;
        whole.headline = m_end->headline;
        whole.result = m_end->result;
        RunWriter::close(whole, *m_end);
    }

    /// Once all have closed.
    [[nodiscard]] std::pair<RunHeader, Finished> whole() const {
        const std::lock_guard lock(m_mutex);
        return {*m_header, *m_end};
    }

private:
    void addParts(const json& result) {
        if (!result.is_object()) return;
        for (const auto& [key, value] : result.items()) {
            if (value.is_object() && (key == "counts" || key == "verdicts")) addCounts(m_end->result[key] = m_end->result.value(key, json::object()), value);
            else if (!m_end->result.contains(key)) m_end->result[key] = value;
        }
    }

    std::string headlineOfAll(const RunHeader& header) const {
        std::vector<SweepRow> rows;
        if (const auto stored = m_store->rows(header.id, header.kind))
            for (const RowRecord& record : *stored)
                if (auto row = rowFrom<SweepRow>(record.values)) rows.push_back(std::move(*row));
        return sweepHeadline(rows, m_baseline);
    }

    mutable std::mutex m_mutex;
    std::size_t m_open;
    const std::string m_baseline;
    std::vector<std::string> m_devices;  ///< names for people
    std::optional<RunHeader> m_header;
    std::optional<Finished> m_end;
};

}  // namespace

Result<std::vector<std::string>> parseDevices(const std::string& text) {
    std::vector<std::string> devices(1);
    for (const char c : text) {
        if (c == ',') devices.emplace_back();
        else if (c != ' ') devices.back() += c;
    }
    constexpr std::string_view kGpu = "cuda:";
    constexpr std::size_t kMost = 64;  // an engine each, with libtorch in it
    if (devices.size() > kMost) return makeError(ErrorCode::usage, "a list of " + std::to_string(devices.size()) + " devices is too long", "name " + std::to_string(kMost) + " at most");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string& device = devices[i];
        if (device.empty()) return makeError(ErrorCode::usage, "a device is missing between the commas of '" + shortened(text, 80) + "'", "name each, such as cuda:0,cuda:1");
        const bool gpu = device.starts_with(kGpu) && device.size() > kGpu.size() && device.size() < kGpu.size() + 4 &&
                         !(device[kGpu.size()] == '0' && device.size() > kGpu.size() + 1) &&  // cuda:00 would be cuda:0 once more
                         device.find_first_not_of("0123456789", kGpu.size()) == std::string::npos;
        if (!gpu && device != "cpu") return makeError(ErrorCode::usage, "'" + shortened(device, 80) + "' is no device to spread over", "name each, such as cuda:0,cuda:1");
        if (gpu && std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), device) != devices.begin() + static_cast<std::ptrdiff_t>(i))
            return makeError(ErrorCode::usage, device + " stands in the list twice", "two jobs on one GPU would disturb each other's times");
    }
    return devices;
}

namespace {

/// Whether an engine has the device that its part is for. One that lists none says so when the job starts.
Result<void> checkDevice(const std::string& device, const Hello& hello) {
    const auto entry = [&](std::string_view id) { return std::find_if(hello.devices.begin(), hello.devices.end(), [&](const DeviceInfo& each) { return each.id == id; }); };
    auto found = entry(device);
    if (found == hello.devices.end() && device.starts_with("cuda")) found = entry("cuda");  // no GPU can be used, and why
    if (found != hello.devices.end()) {
        if (found->problem.empty()) return {};
        return makeError(ErrorCode::environment, device + " cannot be used: " + found->problem, "leave it out of the list of devices, or see what `doctor` says");
    }
    if (hello.devices.empty()) return {};
    std::string there;
    for (const DeviceInfo& each : hello.devices) there += (there.empty() ? "" : ", ") + each.id;
    return makeError(ErrorCode::environment, "There is no device " + device + " for its part of the sweep", "leave it out of the list of devices; there is " + there);
}

}  // namespace

class SpreadSession::Impl {
public:
    Impl(const SessionOptions& options, std::vector<std::string> devices, Store* store, SessionListener listener)
        : m_listener(std::move(listener)), m_devices(std::move(devices)), m_store(store), m_progress(m_devices.size()), m_ready(m_devices.size()) {
        for (std::size_t i = 0; i < m_devices.size(); ++i) m_sessions.push_back(std::make_unique<Session>(options, store, listenerOf(i)));
    }

    ~Impl() {
        // One that fails cancels the others: none may be gone by then.
        cancel();
        wait();
        m_sessions.clear();
    }

    /// The parts start once every engine has said hello and has its device; until then nothing is written.
    Result<void> start(JobRequest request, std::string command, std::string resumes) {
        const std::lock_guard lock(m_mutex);
        const auto baseline = request.settings.find("baseline");
        m_run = std::make_shared<SharedRun>(m_store, m_sessions.size(), baseline != request.settings.end() && baseline->is_string() ? baseline->get<std::string>() : "native");
        m_request = std::move(request);
        m_command = std::move(command);
        m_resumes = std::move(resumes);
        m_phase = Phase::asking;
        for (const auto& session : m_sessions) session->connect();
        return {};
    }

    void cancel() {
        const std::lock_guard lock(m_mutex);
        if (m_phase == Phase::asking) end(RunStatus::cancelled, {});
        for (const auto& session : m_sessions) session->cancel();
    }
    void wait() {
        {
            std::unique_lock lock(m_mutex);
            m_asked.wait(lock, [this] { return m_phase != Phase::asking; });
        }
        for (const auto& session : m_sessions) session->wait();
    }

private:
    enum class Phase { idle, asking, working, over };

    // Called with the mutex held.
    void answered(std::size_t index, const Result<void>& usable) {
        if (m_phase != Phase::asking) return;
        if (!usable) return end(RunStatus::failed, usable.error());
        m_ready[index] = true;
        if (std::find(m_ready.begin(), m_ready.end(), false) != m_ready.end()) return;
        for (std::size_t i = 0; i < m_sessions.size(); ++i) {
            JobRequest part = m_request;
            part.device = m_devices[i];
            part.settings["part"] = i;
            part.settings["parts"] = m_sessions.size();
            (void)m_sessions[i]->startPart(std::move(part), m_command, m_resumes, m_run);  // nothing else runs there
        }
        m_phase = Phase::working;
        m_asked.notify_all();
    }
    /// Before any part has begun.
    void end(RunStatus status, Error why) {
        m_phase = Phase::over;
        m_asked.notify_all();
        RunHeader header;
        header.kind = m_request.kind;
        header.status = status;
        header.reason = status == RunStatus::cancelled ? "cancelled by the user" : why.message;
        Finished finished;
        finished.status = status;
        finished.error = std::move(why);
        if (m_listener.jobFinished) m_listener.jobFinished(header, finished);
    }

    SessionListener listenerOf(std::size_t index) {
        SessionListener listener;
        const auto words = [this, index](const std::string& text) { return m_devices[index] + ": " + text; };
        listener.engineState = [this, index, words](EngineState state, const std::string& why) {
            const std::lock_guard lock(m_mutex);
            if (m_listener.engineState) m_listener.engineState(state, why.empty() ? why : words(why));
            if (state == EngineState::lost) answered(index, makeError(ErrorCode::environment, words(why), "check the command that starts the engine (--engine, KERNELSCOPE_ENGINE)"));
        };
        listener.telemetry = [this](const Telemetry& telemetry) {
            const std::lock_guard lock(m_mutex);
            if (m_listener.telemetry) m_listener.telemetry(telemetry);
        };
        listener.hello = [this, index](const Hello& hello) {
            const std::lock_guard lock(m_mutex);
            if (!std::exchange(m_greeted, true) && m_listener.hello) m_listener.hello(hello);
            answered(index, checkDevice(m_devices[index], hello));
        };
        listener.log = [this, words](const std::string& line) {
            const std::lock_guard lock(m_mutex);
            if (m_listener.log) m_listener.log(words(line));
        };
        listener.row = [this](const RowRecord& row) {
            const std::lock_guard lock(m_mutex);
            if (m_listener.row) m_listener.row(row);
        };
        listener.jobStarted = [this](const RunHeader& header) {
            const std::lock_guard lock(m_mutex);
            if (!std::exchange(m_started, true) && m_listener.jobStarted) m_listener.jobStarted(header);
        };
        listener.progress = [this, index, words](const Progress& progress) {
            const std::lock_guard lock(m_mutex);
            m_progress[index] = progress;
            Progress all = progress;
            all.phase = words(progress.phase);
            all.done = all.total = 0;
            for (const Progress& each : m_progress) {
                all.done += each.done;
                all.total += each.total;
                if (each.secondsLeft) all.secondsLeft = std::max(all.secondsLeft.value_or(0), *each.secondsLeft);
            }
            if (m_listener.progress) m_listener.progress(all);
        };
        listener.jobFinished = [this](const RunHeader&, const Finished& finished) {
            if (finished.status == RunStatus::failed) cancel();
            const std::lock_guard lock(m_mutex);
            if (++m_finished < m_sessions.size()) return;
            const auto [header, end] = m_run->whole();
            if (m_listener.jobFinished) m_listener.jobFinished(header, end);
        };
        return listener;
    }

    const SessionListener m_listener;
    const std::vector<std::string> m_devices;
    Store* const m_store;
    std::recursive_mutex m_mutex;  // the sessions' threads take turns; a listener may cancel
    std::condition_variable_any m_asked;
    Phase m_phase = Phase::idle;
    JobRequest m_request;
    std::string m_command, m_resumes;
    std::vector<Progress> m_progress;
    std::vector<bool> m_ready;
    bool m_greeted = false, m_started = false;
    std::size_t m_finished = 0;
    std::shared_ptr<SharedRun> m_run;
    std::vector<std::unique_ptr<Session>> m_sessions;
};

SpreadSession::SpreadSession(const SessionOptions& options, std::vector<std::string> devices, Store* store, SessionListener listener)
    : m_impl(std::make_unique<Impl>(options, std::move(devices), store, std::move(listener))) {}
SpreadSession::~SpreadSession() = default;

Result<void> SpreadSession::start(JobRequest request, std::string command) { return m_impl->start(std::move(request), std::move(command), {}); }
Result<void> SpreadSession::resume(std::string runId, JobRequest request) { return m_impl->start(std::move(request), {}, std::move(runId)); }
void SpreadSession::cancel() { m_impl->cancel(); }
void SpreadSession::wait() { m_impl->wait(); }

}  // namespace kernelscope
