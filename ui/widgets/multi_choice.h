#pragma once

#include <QStringList>
#include <QToolButton>

class QMenu;

namespace kernelscope::ui {

/// A button that opens a list of boxes to tick. Nothing ticked, or everything, means all.
class MultiChoice : public QToolButton {
    Q_OBJECT
public:
    MultiChoice(const QString& name, const QStringList& options, const QString& toolTip, QWidget* parent = nullptr);
    /// What is ticked, in order; empty when that is all.
    [[nodiscard]] QStringList chosen() const;
    /// Empty: all. A name that is not in the list joins it.
    void setChosen(const QStringList& names);

signals:
    void changed();

private:
    void showChoice();
    QString m_name, m_toolTip;
    QMenu* m_menu;
};

}  // namespace kernelscope::ui
