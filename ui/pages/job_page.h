#pragma once

#include <functional>

#include <QElapsedTimer>
#include <QTimer>

#include "core/records/protocol.h"
#include "ui/pages/page.h"

class QHBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace kernelscope::ui {

class Banner;
class EmptyState;
class ModelLine;

/// A page whose work is a job of the engine: its controls in one line with Run at the right end (Cancel while it runs),
/// errors and saved runs in banners, the headline, progress, and the body that shows the run.
class JobPage : public Page {
    Q_OBJECT
public:
    void attach(const Services& services) override;
    void engineReplaced(const Services& services) override;
    void run() override;
    [[nodiscard]] QString runLabel() const override;
    void cancel();
    [[nodiscard]] bool running() const { return m_running; }
    [[nodiscard]] const RunRows* exportable() const override;
    void showSaved(const SavedRunPtr& run) override;
    void showError(const Error& error) override;
    [[nodiscard]] bool showsSaved() const { return m_saved != nullptr; }

    [[nodiscard]] QPushButton* runButton() const { return m_runButton; }
    [[nodiscard]] Banner* errorBanner() const { return m_error; }
    [[nodiscard]] Banner* savedBanner() const { return m_savedBanner; }
    [[nodiscard]] QLabel* headline() const { return m_headline; }
    [[nodiscard]] QLabel* subline() const { return m_subline; }
    [[nodiscard]] QProgressBar* progressBar() const { return m_progress; }

signals:
    void renderedLive();  ///< after the charts have taken in new rows of a running job

protected:
    struct Words {
        QString run;         ///< "Profile model"
        QString empty;       ///< the sentence of the empty page
    };
    JobPage(const ModelLine& model, const Words& words, QWidget* parent);

    // What a page adds.
    [[nodiscard]] virtual JobRequest request() const = 0;
    virtual void renderCharts(const RunRows& run, bool live) = 0;  ///< cheap: called at each drain
    virtual void renderTables(const RunRows& run, bool live) = 0;  ///< four times a second while a job runs
    [[nodiscard]] virtual QString headlineOf(const RunRows& run) const = 0;
    [[nodiscard]] virtual QString sublineOf(const RunRows& run, bool live) const = 0;
    virtual void settingsShown(const RunRows& run) { Q_UNUSED(run); }  ///< a saved run's settings, for the controls
    virtual void setControlsEnabled(bool enabled);
    virtual void progressShown(const Progress& progress) { Q_UNUSED(progress); }  ///< of a running job; an empty one when it has ended

    void setControls(QWidget* controls);
    void setBody(QWidget* body);
    void setAction(const QString& label, std::function<void()> action);  ///< the link beside the sub-line; empty: none
    [[nodiscard]] const ModelLine& modelLine() const { return m_modelLine; }
    [[nodiscard]] const Services& services() const { return m_services; }
    [[nodiscard]] const RunRows* shown() const;
    void render();

private:
    void connectEngine();
    void onJobStarted(const RunHeader& run);
    void onRows(const std::vector<RowRecord>& batch);
    void onProgress(const Progress& progress);
    void onFinished(const RunHeader& run, const Finished& finished);
    void setRunning(bool running);
    void renderLine(bool live);
    void renderLineSoon();  ///< of a running job: a few times a second
    void leaveSaved();
    void updateBody();

    const ModelLine& m_modelLine;
    Words m_words;
    Services m_services;
    bool m_running = false, m_cancelling = false;
    RunRows m_live;
    SavedRunPtr m_saved;
    QElapsedTimer m_sinceTables;
    QTimer m_tableTimer;
    QElapsedTimer m_sinceLine;
    QTimer m_lineTimer;
    QString m_progressText;
    std::function<void()> m_action;

    QVBoxLayout* m_column;
    QHBoxLayout* m_controlRow;
    QWidget* m_controls = nullptr;
    QPushButton* m_runButton;
    Banner* m_error;
    Banner* m_savedBanner;
    QLabel* m_headline;
    QLabel* m_subline;
    QPushButton* m_link;
    QProgressBar* m_progress;
    QStackedWidget* m_stack;
    EmptyState* m_empty;
};

}  // namespace kernelscope::ui
