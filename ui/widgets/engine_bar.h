#pragma once

#include <QFrame>

class QLabel;
class QLineEdit;
class QPushButton;

namespace kernelscope::ui {

/// Which engine the window uses: a command line, edited in place.
class EngineBar : public QFrame {
    Q_OBJECT
public:
    explicit EngineBar(QWidget* parent = nullptr);
    void open(const QString& command, const QString& standard, const QString& title = "Engine command");
    [[nodiscard]] QLineEdit* edit() const { return m_edit; }
    [[nodiscard]] QPushButton* useButton() const { return m_use; }

signals:
    void chosen(const QString& command);  ///< empty: the standard one

private:
    QLabel* m_label;
    QLineEdit* m_edit;
    QPushButton* m_use;
};

}  // namespace kernelscope::ui
