#include "ui/services/engine_adapter.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <utility>
#include <variant>

#include "ui/text.h"

namespace kernelscope::ui {
namespace {

// One frame at 60 Hz: a faster drain could not be seen, a slower one would.
constexpr int kDrainMs = 16;
// A drain stops here and goes on in the next one, so that a flood of rows never holds the window.
constexpr std::size_t kMostEventsADrain = 20'000;

struct StateEvent { EngineState state; std::string why; };
struct FinishedEvent { RunHeader run; Finished finished; };
struct LogEvent { std::string line; };
struct AnswerEvent {
    QPointer<QObject> context;
    std::function<void(const Result<nlohmann::json>&)> done;
    Result<nlohmann::json> answer;
};
using Event = std::variant<StateEvent, Hello, Telemetry, RunHeader, Progress, RowRecord, FinishedEvent, LogEvent, AnswerEvent>;

}  // namespace

struct EngineAdapter::Queue {
    std::mutex mutex;
    std::deque<Event> events;
    EngineAdapter* owner = nullptr;  // null once the adapter has gone
    bool awake = false;              // a drain is due anyway

    void push(Event event) {
        const std::lock_guard lock(mutex);
        // Only the newest of these is of use, so that an engine that sends nothing else does not fill the memory.
        const bool replaces = !events.empty() && events.back().index() == event.index() && (std::holds_alternative<Telemetry>(event) || std::holds_alternative<Progress>(event));
        if (replaces) events.back() = std::move(event);
        else events.push_back(std::move(event));
        if (awake || !owner) return;
        awake = true;
        QMetaObject::invokeMethod(owner, [adapter = owner] { adapter->drain(); }, Qt::QueuedConnection);
    }
};

EngineAdapter::EngineAdapter(SessionOptions options, Store* store, QObject* parent)
    : QObject(parent), m_queue(std::make_shared<Queue>()) {
    m_queue->owner = this;
    m_timer.setInterval(kDrainMs);
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &EngineAdapter::drain);
    SessionListener listener;
    const auto queue = m_queue;
    listener.engineState = [queue](EngineState state, const std::string& why) { queue->push(StateEvent{state, why}); };
    listener.hello = [queue](const Hello& hello) { queue->push(hello); };
    listener.telemetry = [queue](const Telemetry& telemetry) { queue->push(telemetry); };
    listener.jobStarted = [queue](const RunHeader& run) { queue->push(run); };
    listener.progress = [queue](const Progress& progress) { queue->push(progress); };
    listener.row = [queue](const RowRecord& row) { queue->push(row); };
    listener.jobFinished = [queue](const RunHeader& run, const Finished& finished) { queue->push(FinishedEvent{run, finished}); };
    listener.log = [queue](const std::string& line) { queue->push(LogEvent{line}); };
    m_session = std::make_unique<Session>(std::move(options), store, std::move(listener));
}

EngineAdapter::~EngineAdapter() {
    {
        const std::lock_guard lock(m_queue->mutex);
        m_queue->owner = nullptr;
    }
    m_session.reset();
}

void EngineAdapter::connectEngine() { m_session->connect(); }

Result<void> EngineAdapter::start(JobRequest request, const std::string& command) {
    auto started = m_session->start(std::move(request), command);
    if (started) m_running = true;
    return started;
}

Result<void> EngineAdapter::resume(const std::string& runId, JobRequest request) {
    auto started = m_session->resume(runId, std::move(request));
    if (started) m_running = true;
    return started;
}

void EngineAdapter::cancel() { m_session->cancel(); }

void EngineAdapter::call(const std::string& method, nlohmann::json params, QObject* context,
                         std::function<void(const Result<nlohmann::json>&)> done) {
    m_session->call(method, std::move(params),
                    [queue = m_queue, context = QPointer<QObject>(context), done = std::move(done)](Result<nlohmann::json> answer) {
                        queue->push(AnswerEvent{context, done, std::move(answer)});
                    });
}

void EngineAdapter::drain() {
    std::deque<Event> events;
    {
        const std::lock_guard lock(m_queue->mutex);
        if (m_queue->events.size() <= kMostEventsADrain) {
            events.swap(m_queue->events);
        } else {
            const auto end = m_queue->events.begin() + kMostEventsADrain;
            events.assign(std::make_move_iterator(m_queue->events.begin()), std::make_move_iterator(end));
            m_queue->events.erase(m_queue->events.begin(), end);
        }
        m_queue->awake = true;
    }

    std::vector<RowRecord> rows;
    std::optional<Progress> progress;
    std::optional<Telemetry> telemetry;
    QStringList log;
    const auto flush = [&] {
        if (!rows.empty()) emit rowsArrived(rows);
        rows.clear();
        if (progress) emit progressed(*progress);
        progress.reset();
    };
    for (Event& event : events) {
        if (auto* row = std::get_if<RowRecord>(&event)) {
            rows.push_back(std::move(*row));
        } else if (auto* newest = std::get_if<Progress>(&event)) {
            progress = std::move(*newest);
        } else if (auto* sample = std::get_if<Telemetry>(&event)) {
            telemetry = std::move(*sample);
        } else if (auto* said = std::get_if<LogEvent>(&event)) {
            log << toQt(said->line);
        } else if (auto* state = std::get_if<StateEvent>(&event)) {
            m_state = state->state;
            if (m_state == EngineState::stopped || m_state == EngineState::lost) m_hello.reset();
            emit stateChanged(state->state, toQt(state->why));
        } else if (auto* hello = std::get_if<Hello>(&event)) {
            m_hello = *hello;
            emit helloReceived(*hello);
        } else if (auto* run = std::get_if<RunHeader>(&event)) {
            flush();
            m_running = true;
            emit jobStarted(*run);
        } else if (auto* finished = std::get_if<FinishedEvent>(&event)) {
            flush();
            m_running = false;
            emit jobFinished(finished->run, finished->finished);
        } else if (auto* answer = std::get_if<AnswerEvent>(&event)) {
            if (answer->context) answer->done(answer->answer);
        }
    }
    flush();
    if (telemetry && m_hello) emit telemetryReceived(*telemetry);  // what an engine said that has gone meanwhile is of no use
    if (!log.isEmpty()) emit logged(log);

    const std::lock_guard lock(m_queue->mutex);
    const bool more = m_running || !m_queue->events.empty();
    m_queue->awake = more;
    if (more && !m_timer.isActive()) m_timer.start();
    if (!more) m_timer.stop();
}

}  // namespace kernelscope::ui
