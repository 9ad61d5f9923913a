#include "ui/pages/kernels_controls.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include "core/records/list.h"
#include "ui/services/settings.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/multi_choice.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/wrap_layout.h"

namespace kernelscope::ui {
namespace {

struct ShapePreset { const char* label; const char* hidden; const char* rows; };
constexpr ShapePreset kPresets[] = {
    {"The model's own shapes", "", ""},
    {"Decode: few rows", "", "1,2,4,8,16,32"},
    {"Prefill: many rows", "", "128-8192x2"},
    {"Qwen2.5 family, decode to prefill", "896,1536,2048,3584,5120,8192", "1-8192x2"},
};

Result<std::vector<std::int64_t>> listIn(const QLineEdit* edit) {
    const std::string text = fromQt(edit->text().simplified().remove(' '));
    if (text.empty()) return std::vector<std::int64_t>{};
    return parseList(text);
}

QLineEdit* addList(WrapLayout* row, const QString& label, const QString& hint, int characters, QWidget* parent) {
    auto* edit = new QLineEdit(parent);
    edit->setPlaceholderText(hint);
    edit->setAccessibleName(label);
    edit->setObjectName(label);
    edit->setToolTip("A list such as 1,8,64-1024x2 (64 to 1024 in steps of times 2); empty: the model's own");
    // The whole of the hint is to be read, and of a list what a line has room for.
    const QFontMetrics metrics = edit->fontMetrics();
    const int air = metrics.height() * 3 / 2, least = std::max(metrics.horizontalAdvance('0') * characters, metrics.horizontalAdvance(hint)) + air;
    const auto fit = [=] { edit->setFixedWidth(std::clamp(metrics.horizontalAdvance(edit->text()) + air, least, std::max(least, metrics.horizontalAdvance('0') * 36))); };
    QObject::connect(edit, &QLineEdit::textChanged, edit, fit);
    fit();
    row->addPair(label, edit);
    return edit;
}

}  // namespace

KernelsControls::KernelsControls(QWidget* parent) : QWidget(parent) {
    auto* all = new QHBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(space(this, 1.5));
    auto* choices = new QWidget(this);
    auto* row = new WrapLayout(choices);
    all->addWidget(choices, 1);
    m_operators = new MultiChoice("Operators", {"rms_norm", "add_rms_norm", "silu_mul", "rope"}, "Which operators", this);
    m_variants = new MultiChoice("Variants", {"native", "aten", "fused", "fused_plain"}, "Which variants to compare; those that a device does not have are left out", this);
    m_types = new MultiChoice("Types", {"float32", "float16", "bfloat16"}, "Which types; all: a sweep takes the model's own, Validate every one", this);
    for (MultiChoice* choice : {m_operators, m_variants, m_types}) row->addWidget(choice);
    auto* presets = new QToolButton(this);
    presets->setText("Shapes");
    presets->setAccessibleName("Shape presets");
    presets->setProperty("role", "field");
    presets->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(presets);
    for (const ShapePreset& preset : kPresets) {
        menu->addAction(preset.label, this, [this, preset] {
            m_hidden->setText(preset.hidden);
            m_rows->setText(preset.rows);
        });
    }
    presets->setMenu(menu);
    row->addWidget(presets);
    m_hidden = addList(row, "Hidden", "the model's", 16, this);
    m_rows = addList(row, "Rows", "1,8,64,512,2048", 13, this);
    m_cache = new Segmented("Cache", this);
    m_cache->add("Cold", "cold", "Every input from memory");
    m_cache->add("Warm", "warm", "The same buffers again and again");
    m_cache->add("Both", "both", "Cold and warm");
    row->addWidget(m_cache);
    m_validate = new QPushButton("Validate", this);
    m_validate->setAutoDefault(false);
    m_validate->setToolTip("Is each kernel right at these shapes? Sweep asks the same first where that has not been done");
    all->addWidget(m_validate, 0, Qt::AlignTop);
    connect(m_validate, &QPushButton::clicked, this, &KernelsControls::validateRequested);
}

nlohmann::json KernelsControls::settings(const std::string& kind) const {
    nlohmann::json settings = nlohmann::json::object();
    for (const auto& [key, edit] : {std::pair{"hidden", m_hidden}, std::pair{"rows", m_rows}}) {
        if (const auto list = listIn(edit); list && !list->empty()) settings[key] = *list;
    }
    for (const auto& [key, choice] : {std::pair{"op", m_operators}, std::pair{"variant", m_variants}, std::pair{"dtypes", m_types}}) {
        if (const QStringList names = choice->chosen(); !names.isEmpty()) settings[key] = fromQt(names.join(','));
    }
    if (kind == "sweep") settings["cache"] = fromQt(m_cache->value());
    return settings;
}

std::optional<Error> KernelsControls::problem() const {
    for (const QLineEdit* edit : {m_hidden, m_rows}) {
        if (auto list = listIn(edit); !list) {
            Error error = list.error();
            error.message = fromQt(edit->accessibleName()) + ": " + error.message;
            return error;
        }
    }
    return std::nullopt;
}

void KernelsControls::show(const nlohmann::json& settings) {
    const auto list = [&](const char* key, QLineEdit* edit) {
        if (!settings.contains(key)) return;
        const auto& value = settings[key];
        if (value.is_string()) edit->setText(toQt(value.get<std::string>()));
        if (value.is_array() && !value.empty() && value.front().is_number_integer()) edit->setText(toQt(formatList(value.get<std::vector<std::int64_t>>())));
    };
    const auto choice = [&](const char* key, MultiChoice* box) {
        const bool named = settings.contains(key) && settings[key].is_string() && settings[key] != "all";
        box->setChosen(named ? toQt(settings[key].get<std::string>()).split(',', Qt::SkipEmptyParts) : QStringList());
    };
    choice("op", m_operators);
    choice("variant", m_variants);
    choice("dtypes", m_types);
    list("hidden", m_hidden);
    list("rows", m_rows);
    for (QLineEdit* edit : {m_hidden, m_rows}) edit->setCursorPosition(0);
    if (settings.contains("cache") && settings["cache"].is_string()) m_cache->setValue(toQt(settings["cache"].get<std::string>()));
}

void KernelsControls::restore(const Settings& settings) {
    const auto saved = nlohmann::json::parse(fromQt(settings.text("kernels/settings", "{}")), nullptr, false);
    if (saved.is_object()) show(saved);
}

void KernelsControls::remember(Settings& settings) const { settings.setText("kernels/settings", toQt(this->settings("sweep").dump())); }

void KernelsControls::setEditable(bool editable) { setEnabled(editable); }

}  // namespace kernelscope::ui
