#pragma once

#include <nlohmann/json.hpp>

#include <QWidget>

class QLineEdit;
class QPushButton;
class QSpinBox;

namespace kernelscope::ui {

class Segmented;
class Settings;

/// Phase, prompt, batch, passes, level and mode in one line.
class ProfileControls : public QWidget {
    Q_OBJECT
public:
    explicit ProfileControls(QWidget* parent = nullptr);

    [[nodiscard]] nlohmann::json settings() const;  ///< as job.start takes them
    void show(const nlohmann::json& settings);      ///< those of a saved run
    void restore(const Settings& settings);
    void remember(Settings& settings) const;
    [[nodiscard]] QString phase() const;
    void setPhase(const QString& phase);
    void setLevel(const QString& level);
    [[nodiscard]] QSpinBox* passes() const { return m_passes; }
    [[nodiscard]] QSpinBox* prompt() const { return m_prompt; }
    [[nodiscard]] QSpinBox* batch() const { return m_batch; }
    [[nodiscard]] Segmented* level() const { return m_level; }
    [[nodiscard]] Segmented* phases() const { return m_phase; }
    /// GPU-only choices; a reason in words where the device is none.
    void setGpu(bool gpu);
    /// The driver's trace was tried on this device and refused, for this reason; empty: not that anybody knows.
    void setTraceProblem(const QString& why);
    [[nodiscard]] QPushButton* crossCheck() const { return m_crossCheck; }
    /// While a run is shown or running everything but the phase stands still.
    void setEditable(bool editable);

signals:
    void phaseChanged(const QString& phase);

private:
    Segmented* m_phase;
    QSpinBox* m_prompt;
    QSpinBox* m_batch;
    QSpinBox* m_passes;
    Segmented* m_level;
    Segmented* m_mode;
    QLineEdit* m_patch;
    QPushButton* m_crossCheck;
    bool m_gpu = true, m_editable = true;
    QString m_traceProblem;
    void updateCrossCheck();
};

}  // namespace kernelscope::ui
