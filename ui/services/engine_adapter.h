#pragma once
// The one place where the session's thread meets the window's: events land in a queue, and a timer drains it.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <QObject>
#include <QPointer>
#include <QTimer>

#include "core/client/session.h"

namespace kernelscope::ui {

class EngineAdapter : public QObject {
    Q_OBJECT
public:
    /// `store` may be null and must outlive the adapter.
    EngineAdapter(SessionOptions options, Store* store, QObject* parent = nullptr);
    ~EngineAdapter() override;

    void connectEngine();
    Result<void> start(JobRequest request, const std::string& command);
    /// Continues a run of the store; see Session::resume.
    Result<void> resume(const std::string& runId, JobRequest request);
    void cancel();
    /// An answer arrives in the GUI thread, unless `context` has gone by then.
    void call(const std::string& method, nlohmann::json params, QObject* context,
              std::function<void(const Result<nlohmann::json>&)> done);

    [[nodiscard]] bool running() const { return m_running; }
    [[nodiscard]] EngineState state() const { return m_state; }
    [[nodiscard]] const std::optional<Hello>& hello() const { return m_hello; }

signals:
    void stateChanged(kernelscope::EngineState state, const QString& why);
    void helloReceived(const kernelscope::Hello& hello);
    void telemetryReceived(const kernelscope::Telemetry& telemetry);      ///< the newest of a drain
    void jobStarted(const kernelscope::RunHeader& run);
    void progressed(const kernelscope::Progress& progress);               ///< the newest of a drain
    void rowsArrived(const std::vector<kernelscope::RowRecord>& batch);   ///< all of a drain, in order
    void jobFinished(const kernelscope::RunHeader& run, const kernelscope::Finished& finished);
    void logged(const QStringList& lines);  ///< what the engine and the session said since the last drain, in order

private:
    struct Queue;
    void drain();

    std::shared_ptr<Queue> m_queue;  // outlives this for callbacks still under way
    QTimer m_timer;
    bool m_running = false;
    EngineState m_state = EngineState::stopped;
    std::optional<Hello> m_hello;
    std::unique_ptr<Session> m_session;
};

}  // namespace kernelscope::ui
