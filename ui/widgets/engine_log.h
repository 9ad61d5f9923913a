#pragma once

#include <QDialog>

class QPlainTextEdit;

namespace kernelscope::ui {

/// What the engine, or the way to it, has said: a greeting of another machine, warnings, why it was started again. The newest lines only.
class EngineLog : public QDialog {
    Q_OBJECT
public:
    explicit EngineLog(QWidget* parent = nullptr);

    void add(const QStringList& lines);
    [[nodiscard]] QString text() const;

private:
    QPlainTextEdit* m_text;
};

}  // namespace kernelscope::ui
