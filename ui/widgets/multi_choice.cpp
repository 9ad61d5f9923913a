#include "ui/widgets/multi_choice.h"

#include <QAction>
#include <QMenu>
#include <QMouseEvent>

namespace kernelscope::ui {
namespace {

/// Stays open while boxes are ticked.
class TickMenu : public QMenu {
public:
    using QMenu::QMenu;

protected:
    void mouseReleaseEvent(QMouseEvent* event) override {
        QAction* action = actionAt(event->position().toPoint());
        if (action && action->isCheckable()) action->trigger();
        else QMenu::mouseReleaseEvent(event);
    }
};

}  // namespace

MultiChoice::MultiChoice(const QString& name, const QStringList& options, const QString& toolTip, QWidget* parent)
    : QToolButton(parent), m_name(name), m_toolTip(toolTip), m_menu(new TickMenu(this)) {
    setProperty("role", "field");
    setAccessibleName(name);
    setObjectName(name);
    setPopupMode(QToolButton::InstantPopup);
    setMenu(m_menu);
    setChosen(options);
}

QStringList MultiChoice::chosen() const {
    QStringList ticked;
    for (const QAction* action : m_menu->actions()) {
        if (action->isChecked()) ticked << action->text();
    }
    return ticked.size() == m_menu->actions().size() ? QStringList() : ticked;
}

void MultiChoice::setChosen(const QStringList& names) {
    QStringList known;
    for (const QAction* action : m_menu->actions()) known << action->text();
    for (const QString& name : names) {
        if (known.contains(name)) continue;
        QAction* action = m_menu->addAction(name);
        action->setCheckable(true);
        connect(action, &QAction::toggled, this, [this] {
            showChoice();
            emit changed();
        });
    }
    for (QAction* action : m_menu->actions()) action->setChecked(names.isEmpty() || names.contains(action->text()));
    showChoice();
}

void MultiChoice::showChoice() {
    const QStringList names = chosen();
    setText(names.isEmpty() ? m_name : QString("%1: %2").arg(m_name, names.size() == 1 ? names.front() : QString::number(names.size())));
    setToolTip(m_toolTip + (names.isEmpty() ? QString("\nNow: all") : "\nNow: " + names.join(", ")));
}

}  // namespace kernelscope::ui
