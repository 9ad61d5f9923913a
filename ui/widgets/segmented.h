#pragma once

#include <QVariant>
#include <QWidget>

class QButtonGroup;
class QHBoxLayout;

namespace kernelscope::ui {

/// A row of joined buttons of which one is chosen. Arrow keys move, Tab leaves.
class Segmented : public QWidget {
    Q_OBJECT
public:
    explicit Segmented(const QString& name, QWidget* parent = nullptr);

    void add(const QString& label, const QString& value, const QString& toolTip = {});
    [[nodiscard]] QString value() const;
    void setValue(const QString& value);  ///< ignores a value that is not there
    void setOptionEnabled(const QString& value, bool enabled, const QString& why = {});

signals:
    void changed(const QString& value);

private:
    QButtonGroup* m_group;
    QHBoxLayout* m_layout;
};

}  // namespace kernelscope::ui
