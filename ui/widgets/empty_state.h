#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace kernelscope::ui {

/// What an empty page shows: one sentence, one button.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    EmptyState(const QString& sentence, const QString& action, QWidget* parent = nullptr);
    void setSentence(const QString& sentence);
    [[nodiscard]] QPushButton* button() const { return m_button; }

signals:
    void activated();

private:
    QLabel* m_sentence;
    QPushButton* m_button;
};

}  // namespace kernelscope::ui
