#include "ui/widgets/segmented.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

namespace kernelscope::ui {

Segmented::Segmented(const QString& name, QWidget* parent)
    : QWidget(parent), m_group(new QButtonGroup(this)), m_layout(new QHBoxLayout(this)) {
    setAccessibleName(name);
    setObjectName(name);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
    m_group->setExclusive(true);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(m_group, &QButtonGroup::buttonToggled, this, [this](QAbstractButton* button, bool checked) {
        if (checked) emit changed(button->property("value").toString());
    });
}

void Segmented::add(const QString& label, const QString& value, const QString& toolTip) {
    auto* button = new QPushButton(label, this);
    button->setCheckable(true);
    button->setAutoDefault(false);
    button->setProperty("role", "segment");
    button->setProperty("value", value);
    button->setToolTip(toolTip);
    button->setAccessibleName(accessibleName() + ": " + label);
    const auto before = m_group->buttons();
    button->setProperty("end", before.isEmpty() ? "first" : "last");
    if (before.size() > 1) before.back()->setProperty("end", "middle");
    m_group->addButton(button);
    m_layout->addWidget(button);
    if (before.isEmpty()) button->setChecked(true);
    // Bold when chosen: keep room for it, so that the row does not jump.
    QFont bold = button->font();
    bold.setWeight(QFont::DemiBold);
    button->setMinimumWidth(QFontMetrics(bold).horizontalAdvance(label) + QFontMetrics(bold).height() * 11 / 8 + 4);
}

QString Segmented::value() const {
    return m_group->checkedButton() ? m_group->checkedButton()->property("value").toString() : QString();
}

void Segmented::setValue(const QString& value) {
    for (QAbstractButton* button : m_group->buttons()) {
        if (button->property("value").toString() == value) button->setChecked(true);
    }
}

void Segmented::setOptionEnabled(const QString& value, bool enabled, const QString& why) {
    for (QAbstractButton* button : m_group->buttons()) {
        if (button->property("value").toString() != value) continue;
        button->setEnabled(enabled);
        if (!why.isEmpty() || enabled) button->setToolTip(why);
    }
}

}  // namespace kernelscope::ui
