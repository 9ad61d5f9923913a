#pragma once

#include <QFrame>

#include "core/records/protocol.h"

class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace kernelscope::ui {

/// Gets a model from the hub into the cache of the engine's machine, in place: its name, how far it is, Cancel.
class HubBar : public QFrame {
    Q_OBJECT
public:
    explicit HubBar(QWidget* parent = nullptr);
    void open(const QString& model);
    [[nodiscard]] bool fetching() const { return m_fetching; }
    [[nodiscard]] QLineEdit* edit() const { return m_edit; }
    [[nodiscard]] QPushButton* getButton() const { return m_get; }
    [[nodiscard]] QString message() const;

    void begin();
    void setProgress(const Progress& progress);
    /// The end of what begin() began. An empty error: it is there.
    void end(const Error& error);

signals:
    void requested(const QString& model);
    void cancelRequested();

private:
    void say(const QString& text, bool wrong);

    QLineEdit* m_edit;
    QPushButton* m_get;
    QPushButton* m_close;
    QProgressBar* m_progress;
    QLabel* m_message;
    bool m_fetching = false;
};

}  // namespace kernelscope::ui
