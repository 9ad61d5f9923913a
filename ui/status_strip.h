#pragma once

#include <optional>

#include <QFrame>

#include "core/client/session.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace kernelscope::ui {

/// The machine's state at the bottom of the window: what telemetry says, and what the engine is doing.
class StatusStrip : public QFrame {
    Q_OBJECT
public:
    explicit StatusStrip(QWidget* parent = nullptr);

    void setTelemetry(const Telemetry& telemetry);
    void setDevice(const std::optional<DeviceInfo>& device);
    void setEngine(EngineState state, const QString& why, const QString& where);
    void setDoing(const QString& doing);  ///< "profiling 12 of 50"; empty: nothing

signals:
    void engineClicked();

private:
    void refresh();

    QLabel* m_device;
    QLabel* m_clocks;
    QLabel* m_throttle;
    QLabel* m_others;
    QPushButton* m_engine;
    std::optional<Telemetry> m_telemetry;
    std::optional<DeviceInfo> m_info;
    EngineState m_state = EngineState::stopped;
    QString m_why, m_where = "local", m_doing;
};

}  // namespace kernelscope::ui
