#include "ui/pages/end_to_end_controls.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QSpinBox>

#include "core/records/list.h"
#include "ui/model_line.h"
#include "ui/services/settings.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/wrap_layout.h"

namespace kernelscope::ui {
namespace {

constexpr const char* kContexts = "32,128,512,2048";
constexpr const char* kBatches = "1,4";
// What the engine replaces where everything is ticked, for a job that replaces nothing unasked.
constexpr const char* kEverything = "rms_norm=fused,add_rms_norm=fused,silu_mul=fused,rope=fused";

QSpinBox* addNumber(WrapLayout* row, const QString& label, int most, int value, const QString& toolTip, QWidget* parent) {
    auto* box = new QSpinBox(parent);
    box->setRange(1, most);
    box->setValue(value);
    box->setAccessibleName(label);
    box->setToolTip(toolTip);
    box->setFixedWidth(box->fontMetrics().horizontalAdvance("10000") + box->fontMetrics().height() * 5 / 4);
    row->addPair(label, box);
    return box;
}

QLineEdit* addList(WrapLayout* row, const QString& label, const QString& text, int characters, const QString& toolTip, QWidget* parent) {
    auto* edit = new QLineEdit(text, parent);
    edit->setAccessibleName(label);
    edit->setToolTip(toolTip);
    edit->setFixedWidth(edit->fontMetrics().horizontalAdvance('0') * characters);
    row->addPair(label, edit);
    return edit;
}

Result<std::vector<std::int64_t>> listIn(const QLineEdit* edit) { return parseList(fromQt(edit->text().simplified().remove(' '))); }

}  // namespace

EndToEndControls::EndToEndControls(const ModelLine& model, Settings& settings, QWidget* parent) : QWidget(parent), m_settings(settings) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(this, 1.5));
    m_tabs = new Segmented("What is measured", this);
    m_tabs->add("Gain", "e2e", "generate() native against patched");
    m_tabs->add("Context", "context", "A decode step against the length of its context and the batch");
    m_gain = makeGain(model);
    m_context = makeContext();
    m_context->hide();
    row->addWidget(m_tabs, 0, Qt::AlignTop);
    row->addWidget(m_gain, 1);
    row->addWidget(m_context, 1);
    connect(m_tabs, &Segmented::changed, this, [this](const QString& kind) {
        m_gain->setVisible(kind == "e2e");
        m_context->setVisible(kind == "context");
        emit kindChanged();
    });
}

QWidget* EndToEndControls::makeGain(const ModelLine& model) {
    auto* gain = new QWidget(this);
    auto* row = new WrapLayout(gain);
    m_newTokens = addNumber(row, "New tokens", 100000, m_settings.text("e2e/new_tokens", "50").toInt(), "Forced: an end-of-text token does not stop a run", gain);
    m_prompt = addNumber(row, "Prompt", 131072, m_settings.text("e2e/prompt_tokens", "32").toInt(), "Tokens of the prompt", gain);
    m_runs = addNumber(row, "Runs", 1000, m_settings.text("e2e/runs", "10").toInt(), "Timed runs of each, native and patched in turns (ABBA), after two to warm up", gain);
    m_mode = new Segmented("Mode", gain);
    m_mode->add("Eager", "eager", "Each operation launched on its own");
    m_mode->add("Graph", "graph", "A decode step as one CUDA graph");
    m_mode->add("Both", "both", "Eager and graph, interleaved");
    row->addWidget(m_mode);
    const auto followDevice = [this, &model] {
        const auto device = model.device();
        const bool gpu = !device || device->id != "cpu";
        for (const char* mode : {"graph", "both"}) m_mode->setOptionEnabled(mode, gpu, gpu ? "" : "Needs a GPU");
        if (!gpu) m_mode->setValue("eager");
    };
    connect(&model, &ModelLine::changed, this, followDevice);
    followDevice();
    return gain;
}

QWidget* EndToEndControls::makeContext() {
    auto* context = new QWidget(this);
    auto* row = new WrapLayout(context);
    m_contexts = addList(row, "Context", m_settings.text("context/context", kContexts), 22, "Tokens in the cache before the step: a list such as 32,128-2048x2", context);
    m_batches = addList(row, "Batch", m_settings.text("context/batch", kBatches), 9, "Sequences at once: a list such as 1,4", context);
    m_kernels = new Segmented("Kernels", context);
    m_kernels->add("Native", "native", "The model as it is");
    m_kernels->add("Patched", "patched", "With the operators that are ticked under Gain");
    row->addWidget(m_kernels);
    return context;
}

std::string EndToEndControls::kind() const { return fromQt(m_tabs->value()); }

void EndToEndControls::setKind(const std::string& kind) { m_tabs->setValue(toQt(kind)); }

nlohmann::json EndToEndControls::settings(const std::string& patch) const {
    nlohmann::json settings;
    if (kind() == "context") {
        settings = {{"context", *listIn(m_contexts)}, {"batch", *listIn(m_batches)}};
        if (m_kernels->value() == "patched") settings["patch"] = patch.empty() ? std::string(kEverything) : patch;
        return settings;
    }
    settings = {{"new_tokens", m_newTokens->value()}, {"prompt_tokens", m_prompt->value()}, {"runs", m_runs->value()}, {"mode", fromQt(m_mode->value())}};
    if (!patch.empty()) settings["patch"] = patch;
    return settings;
}

std::optional<Error> EndToEndControls::problem() const {
    if (kind() != "context") return std::nullopt;
    for (const QLineEdit* edit : {m_contexts, m_batches}) {
        if (auto list = listIn(edit); !list) {
            Error error = list.error();
            error.message = fromQt(edit->accessibleName()) + ": " + error.message;
            return error;
        }
    }
    return std::nullopt;
}

void EndToEndControls::show(const nlohmann::json& settings) {
    const auto whole = [&](const char* key, QSpinBox* box) {
        if (settings.contains(key) && settings[key].is_number_integer()) box->setValue(settings[key].get<int>());
    };
    const auto list = [&](const char* key, QLineEdit* edit) {
        if (settings.contains(key) && settings[key].is_array() && !settings[key].empty() && settings[key].front().is_number_integer()) {
            edit->setText(toQt(formatList(settings[key].get<std::vector<std::int64_t>>())));
        }
    };
    whole("new_tokens", m_newTokens);
    whole("prompt_tokens", m_prompt);
    whole("runs", m_runs);
    list("context", m_contexts);
    list("batch", m_batches);
    if (settings.contains("mode") && settings["mode"].is_string()) m_mode->setValue(toQt(settings["mode"].get<std::string>()));
    if (kind() == "context") m_kernels->setValue(settings.contains("patch") && settings["patch"].is_string() && !settings["patch"].get_ref<const std::string&>().empty() ? "patched" : "native");
}

void EndToEndControls::remember() const {
    m_settings.setText("e2e/new_tokens", QString::number(m_newTokens->value()));
    m_settings.setText("e2e/prompt_tokens", QString::number(m_prompt->value()));
    m_settings.setText("e2e/runs", QString::number(m_runs->value()));
    m_settings.setText("context/context", m_contexts->text());
    m_settings.setText("context/batch", m_batches->text());
}

void EndToEndControls::setSettingsEnabled(bool enabled) {
    m_gain->setEnabled(enabled);
    m_context->setEnabled(enabled);
}

}  // namespace kernelscope::ui
