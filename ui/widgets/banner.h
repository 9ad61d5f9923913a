#pragma once

#include <functional>

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;

namespace kernelscope::ui {

/// A line inside a page that says what went wrong (or what is shown) and offers the way out. Hidden until shown.
class Banner : public QFrame {
    Q_OBJECT
public:
    enum class Kind { error, warning, info };

    explicit Banner(QWidget* parent = nullptr);

    /// `action` empty: no button.
    void show(Kind kind, const QString& message, const QString& advice, const QString& action = {},
              std::function<void()> onAction = {}, bool closable = true);
    /// Another way out beside the first, until the next show().
    void addAction(const QString& action, std::function<void()> onAction);
    [[nodiscard]] QString message() const;
    [[nodiscard]] QPushButton* actionButton() const { return m_action; }
    [[nodiscard]] QPushButton* secondButton() const { return m_second; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void drawIcon();

    Kind m_kind = Kind::error;
    QString m_message;
    QLabel* m_icon;
    QLabel* m_text;
    QPushButton* m_action;
    QPushButton* m_second;
    QToolButton* m_close;
    std::function<void()> m_onAction, m_onSecond;
};

}  // namespace kernelscope::ui
