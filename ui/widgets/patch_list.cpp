#include "ui/widgets/patch_list.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>

#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

struct Replaceable { const char* op; const char* what; };
constexpr Replaceable kOperators[] = {{"rms_norm", "RMSNorm"},
                                      {"add_rms_norm", "Residual add and the norm after it"},
                                      {"silu_mul", "SwiGLU gate"},
                                      {"rope", "Rotary embedding of q and k"}};

}  // namespace

PatchList::PatchList(QWidget* parent) : QWidget(parent) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setVerticalSpacing(space(this, 1));
    int row = 0;
    for (const Replaceable& entry : kOperators) {
        auto* box = new QCheckBox(entry.op, this);
        box->setChecked(true);
        box->setToolTip(entry.what);
        auto* variant = new QComboBox(this);
        variant->setAccessibleName(QString("Variant of %1").arg(entry.op));
        variant->addItem("best", QString());
        for (const char* name : {"fused", "aten"}) variant->addItem(name, QString(name));
        grid->addWidget(box, row, 0);
        grid->addWidget(variant, row++, 1, Qt::AlignRight);
        connect(box, &QCheckBox::toggled, variant, &QWidget::setEnabled);
        connect(box, &QCheckBox::toggled, this, &PatchList::changed);
        connect(variant, &QComboBox::currentTextChanged, this, &PatchList::changed);
        m_lines.push_back({entry.op, box, variant});
    }
    grid->setRowStretch(row, 1);
}

QString PatchList::patch() const {
    QStringList parts;
    bool plain = true;  // everything, best of each: nothing to say
    for (const Line& line : m_lines) {
        const QString variant = line.variant->currentData().toString();
        plain &= line.box->isChecked() && variant.isEmpty();
        if (line.box->isChecked()) parts << line.op + "=" + (variant.isEmpty() ? QString("fused") : variant);
    }
    return plain ? QString() : parts.join(',');
}

void PatchList::setPatch(const QString& patch) {
    if (patch.isEmpty()) {
        for (const Line& line : m_lines) {
            line.box->setChecked(true);
            line.variant->setCurrentIndex(0);
        }
        return;
    }
    for (const Line& line : m_lines) line.box->setChecked(false);
    for (const QString& part : patch.split(',')) {
        const QString variant = part.section('=', 1);
        for (const Line& line : m_lines) {
            if (line.op != part.section('=', 0, 0)) continue;
            line.box->setChecked(true);
            if (line.variant->findData(variant) < 0) line.variant->addItem(variant, variant);  // a kernel of the user's own
            line.variant->setCurrentIndex(line.variant->findData(variant));
        }
    }
}

void PatchList::setAll(bool checked) {
    for (const Line& line : m_lines) line.box->setChecked(checked);
}

bool PatchList::any() const {
    for (const Line& line : m_lines) {
        if (line.box->isChecked()) return true;
    }
    return false;
}

}  // namespace kernelscope::ui
