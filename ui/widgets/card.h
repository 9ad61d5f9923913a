#pragma once

#include <QFrame>

class QHBoxLayout;
class QVBoxLayout;

namespace kernelscope::ui {

class ElidedLabel;

/// A titled panel with a rounded border. The hint stands beside the title in grey; tools stand at its right.
class Card : public QFrame {
    Q_OBJECT
public:
    explicit Card(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setHint(const QString& hint);
    void addTool(QWidget* tool);
    void setBody(QWidget* body, int stretch = 1);
    [[nodiscard]] QVBoxLayout* bodyLayout() const { return m_column; }

private:
    QVBoxLayout* m_column;
    QHBoxLayout* m_head;
    ElidedLabel* m_title;
    ElidedLabel* m_hint;
};

}  // namespace kernelscope::ui
