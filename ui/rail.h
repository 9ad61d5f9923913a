#pragma once

#include <QFrame>

class QButtonGroup;
class QVBoxLayout;

namespace kernelscope::ui {

/// The pages, one button each, at the left edge.
class Rail : public QFrame {
    Q_OBJECT
public:
    explicit Rail(QWidget* parent = nullptr);
    void add(const QString& title, const QString& iconName);
    void setCurrent(int page);
    [[nodiscard]] QWidget* buttonOf(int page) const;

signals:
    void chosen(int page);

private:
    QButtonGroup* m_group;
    QVBoxLayout* m_column;
};

}  // namespace kernelscope::ui
