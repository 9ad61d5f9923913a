#include "ui/status_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

void setRole(QLabel* label, const char* role) {
    if (label->property("role").toString() == role) return;
    label->setProperty("role", role);
    label->style()->unpolish(label);
    label->style()->polish(label);
}

QString inWords(EngineState state) {
    switch (state) {
    case EngineState::stopped: return "not running";
    case EngineState::starting: return "starting";
    case EngineState::idle: return "idle";
    case EngineState::busy: return "busy";
    case EngineState::lost: return "lost";
    }
    return {};
}

}  // namespace

StatusStrip::StatusStrip(QWidget* parent)
    : QFrame(parent), m_device(new QLabel(this)), m_clocks(new QLabel(this)), m_throttle(new QLabel(this)),
      m_others(new QLabel(this)), m_engine(new QPushButton(this)) {
    setProperty("role", "strip");
    setAccessibleName("State of the machine");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(space(this, 3), space(this, 0.5), space(this, 2), space(this, 0.5));
    row->setSpacing(space(this, 4));
    for (QLabel* label : {m_device, m_clocks, m_throttle, m_others}) {
        label->setProperty("role", "muted");
        row->addWidget(label);
    }
    row->addStretch(1);
    m_engine->setProperty("role", "link");
    m_engine->setAutoDefault(false);
    m_engine->setToolTip("Which engine is used, and where it runs");
    row->addWidget(m_engine);
    connect(m_engine, &QPushButton::clicked, this, &StatusStrip::engineClicked);
    refresh();
}

void StatusStrip::setTelemetry(const Telemetry& telemetry) { m_telemetry = telemetry; refresh(); }
void StatusStrip::setDevice(const std::optional<DeviceInfo>& device) { m_info = device; refresh(); }
void StatusStrip::setDoing(const QString& doing) { m_doing = doing; refresh(); }

void StatusStrip::setEngine(EngineState state, const QString& why, const QString& where) {
    m_state = state;
    m_why = why;
    m_where = where;
    if (state == EngineState::lost || state == EngineState::stopped) m_telemetry.reset();
    refresh();
}

void StatusStrip::refresh() {
    const bool onCpu = m_info && m_info->id == "cpu";
    QString device = m_info ? toQt(m_info->name) : QString();
    if (m_info && m_info->memoryBytes > 0) device += " · " + bytes(double(m_info->memoryBytes));
    m_device->setText(device);
    m_device->setVisible(!device.isEmpty());

    QStringList clocks;
    QString throttle, others;
    if (m_telemetry && m_telemetry->available) {
        const Telemetry& now = *m_telemetry;
        if (now.smClockMhz) clocks << "SM " + number(*now.smClockMhz, 0) + " MHz";
        if (now.memoryClockMhz) clocks << "memory " + number(*now.memoryClockMhz, 0) + " MHz";
        if (now.temperatureC) clocks << number(*now.temperatureC, 0) + " °C";
        if (now.powerW) clocks << number(*now.powerW, 0) + " W";
        QStringList reasons;
        for (const std::string& reason : now.throttle) reasons << toQt(reason);
        throttle = reasons.isEmpty() ? "No throttling" : "Throttled: " + reasons.join(", ");
        setRole(m_throttle, reasons.isEmpty() ? "good" : "warn");
        if (now.otherProcesses) {
            others = *now.otherProcesses == 0   ? "No other process"
                     : *now.otherProcesses == 1 ? "1 other process on the GPU"
                                                : QString("%1 other processes on the GPU").arg(qlonglong(*now.otherProcesses));
            setRole(m_others, *now.otherProcesses == 0 ? "muted" : "warn");
        }
    } else if (m_telemetry && !m_telemetry->reason.empty() && !onCpu) {
        throttle = "No clocks: " + toQt(m_telemetry->reason);
        setRole(m_throttle, "muted");
    }
    m_clocks->setText(clocks.join("   "));
    m_clocks->setVisible(!clocks.isEmpty());
    m_throttle->setText(throttle);
    m_throttle->setVisible(!throttle.isEmpty());
    m_others->setText(others);
    m_others->setVisible(!others.isEmpty());

    const QString doing = m_doing.isEmpty() ? inWords(m_state) : m_doing;
    m_engine->setText(QString("Engine: %1, %2").arg(m_where, doing));
    m_engine->setAccessibleName(m_engine->text());
    m_engine->setToolTip(m_why.isEmpty() ? "Which engine is used, and where it runs" : m_why);
}

}  // namespace kernelscope::ui
