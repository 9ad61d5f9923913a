#include "ui/pages/profile_controls.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "ui/services/settings.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/wrap_layout.h"

namespace kernelscope::ui {
namespace {

QSpinBox* addNumber(WrapLayout* row, const QString& label, int least, int most, int value, const QString& widest, const QString& toolTip, QWidget* parent) {
    auto* box = new QSpinBox(parent);
    box->setRange(least, most);
    box->setValue(value);
    box->setAccessibleName(label);
    box->setObjectName(label);
    box->setToolTip(toolTip);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    box->setFixedWidth(box->fontMetrics().horizontalAdvance(widest) + box->fontMetrics().height() * 5 / 4);
    row->addPair(label, box);
    return box;
}

}  // namespace

ProfileControls::ProfileControls(QWidget* parent) : QWidget(parent) {
    auto* row = new WrapLayout(this);
    m_phase = new Segmented("Phase", this);
    m_phase->add("Decode", "decode", "One new token with the prompt in the KV cache");
    m_phase->add("Prefill", "prefill", "The whole prompt in one pass");
    row->addWidget(m_phase);
    m_prompt = addNumber(row, "Prompt", 1, 131072, 32, "100000", "Tokens of the prompt", this);
    m_batch = addNumber(row, "Batch", 1, 4096, 1, "4096", "Sequences at once", this);
    m_passes = addNumber(row, "Passes", 1, 100000, 50, "100000", "Measured passes, after 10 to warm up", this);
    m_level = new Segmented("Level", this);
    m_level->add("Type", "type", "One row a module type");
    m_level->add("Block", "block", "One row a decoder layer");
    m_level->add("Leaf", "leaf", "One row a projection, norm or add");
    m_level->add("Kernel", "kernel", "One row a GPU kernel");
    row->addWidget(m_level);
    m_mode = new Segmented("Mode", this);
    m_mode->add("Eager", "eager", "Each operation launched on its own");
    m_mode->add("Graph", "graph", "The pass as one CUDA graph");
    row->addWidget(m_mode);
    m_patch = new QLineEdit(this);
    m_patch->setPlaceholderText("Patch: op=variant");
    m_patch->setAccessibleName("Patch");
    m_patch->setToolTip("Operators to replace before profiling, such as rms_norm=fused,rope=fused; empty: the model as it is");
    m_patch->setMinimumWidth(m_patch->fontMetrics().horizontalAdvance(m_patch->placeholderText()) + m_patch->fontMetrics().height());
    m_patch->setMaximumWidth(m_patch->fontMetrics().height() * 18);
    row->addWidget(m_patch);
    m_crossCheck = new QPushButton("Cross-check", this);
    m_crossCheck->setCheckable(true);
    m_crossCheck->setAutoDefault(false);
    m_crossCheck->setObjectName("crossCheck");
    row->addWidget(m_crossCheck);
    updateCrossCheck();
    connect(m_phase, &Segmented::changed, this, &ProfileControls::phaseChanged);
}

nlohmann::json ProfileControls::settings() const {
    nlohmann::json settings{{"phase", fromQt(m_phase->value())}, {"prompt_tokens", m_prompt->value()}, {"batch", m_batch->value()}, {"iterations", m_passes->value()},
                            {"level", fromQt(m_level->value())}, {"mode", fromQt(m_mode->value())}};
    const QString patch = m_patch->text().simplified().remove(' ');
    if (!patch.isEmpty()) settings["patch"] = fromQt(patch);
    if (m_crossCheck->isEnabled() && m_crossCheck->isChecked()) settings["cross_check"] = true;
    return settings;
}

void ProfileControls::show(const nlohmann::json& settings) {
    const auto text = [&](const char* key) {
        return settings.contains(key) && settings[key].is_string() ? toQt(settings[key].get<std::string>()) : QString();
    };
    const auto whole = [&](const char* key, QSpinBox* box) {
        if (settings.contains(key) && settings[key].is_number_integer()) box->setValue(settings[key].get<int>());
    };
    m_phase->setValue(text("phase"));
    m_level->setValue(text("level"));
    m_mode->setValue(text("mode"));
    m_patch->setText(text("patch"));
    m_crossCheck->setChecked(settings.contains("cross_check") && settings["cross_check"] == true);
    whole("prompt_tokens", m_prompt);
    whole("batch", m_batch);
    whole("iterations", m_passes);
}

void ProfileControls::restore(const Settings& settings) {
    const auto saved = nlohmann::json::parse(fromQt(settings.text("profile/settings", "{}")), nullptr, false);
    if (saved.is_object()) show(saved);
}

void ProfileControls::remember(Settings& settings) const { settings.setText("profile/settings", toQt(this->settings().dump())); }

QString ProfileControls::phase() const { return m_phase->value(); }
void ProfileControls::setPhase(const QString& phase) { m_phase->setValue(phase); }
void ProfileControls::setLevel(const QString& level) { m_level->setValue(level); }

void ProfileControls::updateCrossCheck() {
    const QString why = !m_gpu ? QString("Needs a GPU: there is no driver's trace of a CPU")
                        : m_traceProblem.isEmpty() ? QString() : "Not on this device: " + m_traceProblem;
    m_crossCheck->setEnabled(m_editable && why.isEmpty());
    m_crossCheck->setToolTip(why.isEmpty() ? "Hold the GPU time against the driver's own trace (CUPTI) as well; the profile needs none" : why);
    m_crossCheck->setAccessibleDescription(m_crossCheck->toolTip());
    if (!why.isEmpty()) m_crossCheck->setChecked(false);
}

void ProfileControls::setTraceProblem(const QString& why) {
    m_traceProblem = why;
    updateCrossCheck();
}

void ProfileControls::setGpu(bool gpu) {
    m_gpu = gpu;
    updateCrossCheck();
    const QString why = gpu ? QString() : "Needs a GPU: this device has no kernels to look at and no graphs";
    m_level->setOptionEnabled("kernel", gpu, gpu ? "One row a GPU kernel" : why);
    m_mode->setOptionEnabled("graph", gpu, gpu ? "The pass as one CUDA graph" : why);
    if (gpu) return;
    if (m_level->value() == "kernel") m_level->setValue("type");
    if (m_mode->value() == "graph") m_mode->setValue("eager");
}

void ProfileControls::setEditable(bool editable) {
    for (QWidget* widget : std::initializer_list<QWidget*>{m_prompt, m_batch, m_passes, m_level, m_mode, m_patch}) widget->setEnabled(editable);
    m_editable = editable;
    updateCrossCheck();
}

}  // namespace kernelscope::ui
