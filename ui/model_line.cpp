#include "ui/model_line.h"

#include <cstring>

#include <QAbstractItemView>
#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QStandardItemModel>

#include "ui/services/machines.h"
#include "ui/services/settings.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

constexpr const char* kBrowse = "\x01browse";
constexpr const char* kMachine = "\x01machine:";  // and the command that starts its engine
constexpr const char* kAnotherMachine = "\x01another";
constexpr const char* kHub = "\x01hub";

struct Preset { const char* id; const char* label; };
constexpr Preset kPresets[] = {
    {"qwen2.5-0.5b", "Qwen2.5-0.5B (random weights)"}, {"qwen2.5-1.5b", "Qwen2.5-1.5B (random weights)"},
    {"qwen2.5-3b", "Qwen2.5-3B (random weights)"},     {"qwen2.5-7b", "Qwen2.5-7B (random weights)"},
    {"qwen2.5-14b", "Qwen2.5-14B (random weights)"},   {"qwen2.5-32b", "Qwen2.5-32B (random weights)"},
    {"qwen2.5-72b", "Qwen2.5-72B (random weights)"},   {"qwen2.5-tiny", "Qwen2.5-tiny (random weights)"},
};

QComboBox* addCombo(QHBoxLayout* layout, const QString& label, QWidget* parent) {
    auto* caption = new QLabel(label, parent);
    caption->setProperty("role", "muted");
    auto* combo = new QComboBox(parent);
    combo->setAccessibleName(label);
    combo->setObjectName(label);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    caption->setBuddy(combo);
    layout->addWidget(caption);
    layout->addWidget(combo);
    return combo;
}

}  // namespace

ModelLine::ModelLine(Settings& settings, QWidget* parent)
    : QWidget(parent), m_settings(settings), m_layout(new QHBoxLayout(this)) {
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(space(this, 2));
    m_model = addCombo(m_layout, "Model", this);
    m_layout->addSpacing(space(this, 2));
    m_device = addCombo(m_layout, "Device", this);
    m_layout->addSpacing(space(this, 2));
    m_dtype = addCombo(m_layout, "Type", this);
    m_layout->addStretch(1);

    m_model->setEditable(true);
    m_model->setInsertPolicy(QComboBox::NoInsert);
    m_model->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_model->setMinimumContentsLength(30);
    m_model->lineEdit()->setPlaceholderText("Preset, folder or hub id");
    m_model->lineEdit()->setAccessibleName("Model");
    m_model->setToolTip("A preset, a checkpoint folder, or a hub id found in the local hub cache");
    fillModels();
    setModel(m_settings.text("model/name", "qwen2.5-0.5b"));

    m_dtype->addItem("Automatic", "auto");
    for (const char* dtype : {"float16", "bfloat16", "float32"}) m_dtype->addItem(dtype, dtype);
    m_dtype->setToolTip("Automatic: the checkpoint's own type on a GPU (float16 for presets), float32 on a CPU");
    m_dtype->setCurrentIndex(std::max(0, m_dtype->findData(m_settings.text("model/dtype", "auto"))));
    setDevices({});

    connect(m_model, &QComboBox::activated, this, &ModelLine::modelActivated);
    connect(m_model->lineEdit(), &QLineEdit::editingFinished, this, &ModelLine::remember);
    connect(m_device, &QComboBox::activated, this, &ModelLine::deviceActivated);
    connect(m_dtype, &QComboBox::activated, this, &ModelLine::remember);
}

void ModelLine::fillModels() {
    const QSignalBlocker quiet(m_model);
    m_model->clear();
    for (const Preset& preset : kPresets) m_model->addItem(preset.label, QString(preset.id));
    if (!m_cached.isEmpty()) m_model->insertSeparator(m_model->count());
    for (const QString& id : m_cached) {
        m_model->addItem(id, id);
        m_model->setItemData(m_model->count() - 1, "In the hub cache of the engine's machine", Qt::ToolTipRole);
    }
    const QStringList recent = m_settings.recentModels();
    if (!recent.isEmpty()) m_model->insertSeparator(m_model->count());
    for (const QString& folder : recent) {
        m_model->addItem(QDir(folder).dirName(), folder);
        m_model->setItemData(m_model->count() - 1, folder, Qt::ToolTipRole);
    }
    m_model->insertSeparator(m_model->count());
    m_model->addItem("Open a folder…", QString(kBrowse));
    m_model->addItem("Get a model from the hub…", QString(kHub));
    m_model->view()->setMinimumWidth(m_model->view()->sizeHintForColumn(0) + fontMetrics().height() * 2);
}

ModelChoice ModelLine::choice() const {
    ModelChoice choice;
    const int index = m_model->findText(m_model->currentText());
    const QString data = index >= 0 ? m_model->itemData(index).toString() : QString();
    choice.model = fromQt(data.isEmpty() || data == kBrowse || data == kHub ? m_model->currentText().trimmed() : data);
    const QString device = m_device->currentData().toString();
    choice.devices = device.isEmpty() || device.startsWith('\x01') ? std::string("auto") : fromQt(device);
    choice.device = choice.devices.substr(0, choice.devices.find(','));
    choice.dtype = fromQt(m_dtype->currentData().toString());
    return choice;
}

void ModelLine::setModel(const QString& model) {
    if (QFileInfo(model).isDir()) {
        m_settings.addRecentModel(QFileInfo(model).absoluteFilePath());
        fillModels();
    }
    int index = m_model->findData(model);
    if (index < 0 && QFileInfo(model).isDir()) index = m_model->findData(QFileInfo(model).absoluteFilePath());
    if (index >= 0) m_model->setCurrentIndex(index);
    else m_model->setEditText(model);
    m_model->setToolTip(model);
    m_model->lineEdit()->setCursorPosition(0);
    remember();
}

void ModelLine::modelActivated(int index) {
    if (m_model->itemData(index).toString() == kBrowse) {
        setModel(m_lastModel);
        emit browseRequested();
        return;
    }
    if (m_model->itemData(index).toString() == kHub) {
        setModel(m_lastModel);
        emit hubRequested();
        return;
    }
    remember();
}

void ModelLine::remember() {
    const ModelChoice now = choice();
    m_lastModel = toQt(now.model);
    m_settings.setText("model/name", m_lastModel);
    if (!m_devices.empty()) m_settings.setText("model/device", toQt(now.devices));
    m_settings.setText("model/dtype", toQt(now.dtype));
    emit changed();
}

void ModelLine::setCachedModels(const QStringList& ids) {
    if (ids == m_cached) return;
    m_cached = ids;
    const QString chosen = toQt(choice().model);
    fillModels();
    const QSignalBlocker quiet(m_model);
    if (const int index = m_model->findData(chosen); index >= 0) m_model->setCurrentIndex(index);
    else m_model->setEditText(chosen);
    m_model->lineEdit()->setCursorPosition(0);
}

void ModelLine::setDevices(const std::vector<DeviceInfo>& devices) {
    const QString wanted = m_devices.empty() ? m_settings.text("model/device", "auto") : m_device->currentData().toString();
    m_devices = devices;
    m_device->clear();
    const auto automatic = device();
    m_device->addItem("Automatic", "auto");
    if (devices.empty() && isElsewhere(m_machine)) m_device->setItemText(0, "Automatic, on " + machineName(m_machine));  // not reached yet, or lost
    if (!devices.empty() && automatic) m_device->setItemText(0, "Automatic: " + toQt(automatic->name));
    for (const DeviceInfo& device : devices) {
        // GPUs of one model are told apart by their ids.
        const auto sameName = std::count_if(devices.begin(), devices.end(), [&](const DeviceInfo& each) { return each.name == device.name; });
        const QString id = toQt(device.id), name = device.name.empty() ? id : toQt(device.name);
        m_device->addItem(sameName > 1 && name != id ? name + " (" + id + ")" : name, id);
        const int row = m_device->count() - 1;
        m_device->setItemData(row, toQt(device.problem.empty() ? device.id : device.problem), Qt::ToolTipRole);
        if (!device.problem.empty()) {
            if (auto* items = qobject_cast<QStandardItemModel*>(m_device->model())) items->item(row)->setEnabled(false);
        }
    }
    QStringList gpus;
    for (const DeviceInfo& device : devices)
        if (device.id.starts_with("cuda:") && device.problem.empty()) gpus.push_back(toQt(device.id));
    if (gpus.size() > 1) {
        m_device->addItem(QString("All %1 GPUs (sweeps)").arg(gpus.size()), gpus.join(','));
        m_device->setItemData(m_device->count() - 1, "A sweep is spread over them, one engine each; other jobs run on the first", Qt::ToolTipRole);
    }
    addMachines();
    m_device->setCurrentIndex(std::max(0, m_device->findData(wanted)));
    m_lastDevice = m_device->currentIndex();
    emit changed();
}

void ModelLine::setMachines(const QStringList& commands, const QString& current) {
    m_machines = commands;
    m_machine = current;
    setDevices(std::vector<DeviceInfo>(m_devices));
}

void ModelLine::addMachines() {
    m_device->insertSeparator(m_device->count());
    if (isElsewhere(m_machine)) m_device->addItem("This machine", QString(kMachine));
    for (const QString& command : m_machines) {
        if (command == m_machine) continue;
        m_device->addItem("On " + machineName(command), kMachine + command);
        m_device->setItemData(m_device->count() - 1, command, Qt::ToolTipRole);
    }
    m_device->addItem("Another machine…", QString(kAnotherMachine));
    m_device->setItemData(m_device->count() - 1, "Start the engine there by a command such as ssh gpubox kernelscope-engine", Qt::ToolTipRole);
}

void ModelLine::deviceActivated(int index) {
    const QString data = m_device->itemData(index).toString();
    if (data != kAnotherMachine && !data.startsWith(kMachine)) {
        m_lastDevice = index;
        return remember();
    }
    m_device->setCurrentIndex(m_lastDevice);
    if (data == kAnotherMachine) emit anotherMachineRequested();
    else emit machineChosen(data.mid(int(std::strlen(kMachine))));
}

std::optional<DeviceInfo> ModelLine::device() const {
    const QString chosen = m_device->currentData().toString();
    const DeviceInfo* best = nullptr;
    for (const DeviceInfo& device : m_devices) {
        if (!chosen.isEmpty() && chosen != "auto") {
            if (toQt(device.id) == chosen.section(',', 0, 0)) return device;
            continue;
        }
        if (!device.problem.empty()) continue;
        if (!best || (best->id == "cpu" && device.id != "cpu")) best = &device;
    }
    return best ? std::optional(*best) : std::nullopt;
}

void ModelLine::addAtEnd(QWidget* widget) { m_layout->addWidget(widget); }

}  // namespace kernelscope::ui
