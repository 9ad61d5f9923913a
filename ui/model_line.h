#pragma once

#include <optional>
#include <vector>

#include <QStringList>
#include <QWidget>

#include "core/records/protocol.h"

class QComboBox;
class QHBoxLayout;

namespace kernelscope::ui {

class Settings;

struct ModelChoice {
    std::string model = "qwen2.5-0.5b";
    std::string device = "auto";
    std::string devices = "auto";  ///< what a sweep runs on: the same, or a list such as cuda:0,cuda:1
    std::string dtype = "auto";
};

/// Model, device and type: what every job of the window runs on.
class ModelLine : public QWidget {
    Q_OBJECT
public:
    explicit ModelLine(Settings& settings, QWidget* parent = nullptr);

    [[nodiscard]] ModelChoice choice() const;
    void setModel(const QString& model);  ///< preset, hub id or folder; a folder joins the recent ones
    /// Hub ids that the cache of the engine's machine holds and that can be run.
    void setCachedModels(const QStringList& ids);
    void setDevices(const std::vector<DeviceInfo>& devices);
    /// The device that a job would run on, as far as known: the choice, or the first usable GPU, else the CPU.
    [[nodiscard]] std::optional<DeviceInfo> device() const;
    /// Commands that start engines elsewhere, below the devices; `current` is the one in use, empty for this machine.
    void setMachines(const QStringList& commands, const QString& current);
    void addAtEnd(QWidget* widget);

signals:
    void changed();
    void browseRequested();
    void machineChosen(const QString& command);  ///< empty: this machine
    void anotherMachineRequested();
    void hubRequested();

private:
    void fillModels();
    void modelActivated(int index);
    void deviceActivated(int index);
    void addMachines();
    void remember();

    Settings& m_settings;
    QHBoxLayout* m_layout;
    QComboBox* m_model;
    QComboBox* m_device;
    QComboBox* m_dtype;
    QString m_lastModel;
    QStringList m_machines;
    QString m_machine;
    int m_lastDevice = 0;
    QStringList m_cached;
    std::vector<DeviceInfo> m_devices;
};

}  // namespace kernelscope::ui
