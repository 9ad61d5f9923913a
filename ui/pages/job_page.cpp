#include "ui/pages/job_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>

#include "core/records/rows.h"
#include "ui/model_line.h"
#include "ui/services/command_line.h"
#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/empty_state.h"

namespace kernelscope::ui {
namespace {

// Figures that change more often than this cannot be read, and tables cost more than bars.
constexpr int kTableIntervalMs = 250;
// Every new text lays out the whole page again, wrapped lines and all: half the window's work when it happened at each drain.
constexpr int kLineIntervalMs = 250;

void setRole(QWidget* widget, const char* role) {
    widget->setProperty("role", role);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
}

}  // namespace

JobPage::JobPage(const ModelLine& model, const Words& words, QWidget* parent)
    : Page(parent), m_modelLine(model), m_words(words), m_column(new QVBoxLayout(this)), m_controlRow(new QHBoxLayout),
      m_runButton(new QPushButton(words.run, this)), m_error(new Banner(this)), m_savedBanner(new Banner(this)),
      m_headline(new QLabel(this)), m_subline(new ElidedLabel(this)), m_link(new QPushButton(this)),
      m_progress(new QProgressBar(this)), m_stack(new QStackedWidget(this)),
      m_empty(new EmptyState(words.empty, words.run, this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(space(this, 2));
    m_runButton->setProperty("role", "primary");
    m_runButton->setAutoDefault(false);
    m_runButton->setObjectName("run");
    m_runButton->setToolTip(words.run + " (Ctrl+R)");
    m_controlRow->addStretch(1);
    m_controlRow->addWidget(m_runButton, 0, Qt::AlignTop);
    m_savedBanner->setObjectName("savedBanner");
    m_error->setObjectName("errorBanner");

    m_headline->setProperty("role", "headline");
    m_headline->setWordWrap(true);
    m_headline->setAccessibleName("Headline");
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_subline->setProperty("role", "muted");
    m_link->setProperty("role", "link");
    m_link->setAutoDefault(false);
    m_link->hide();
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(4);
    m_progress->setAccessibleName("Progress");

    auto* sub = new QHBoxLayout;
    sub->setSpacing(space(this, 2));
    sub->addWidget(m_subline, 1);
    sub->addWidget(m_link);
    m_column->addLayout(m_controlRow);
    m_column->addWidget(m_progress);
    m_column->addWidget(m_error);
    m_column->addWidget(m_savedBanner);
    m_column->addWidget(m_headline);
    m_column->addLayout(sub);
    m_column->addWidget(m_stack, 1);
    m_stack->addWidget(m_empty);

    setFocusProxy(m_runButton);

    m_tableTimer.setSingleShot(true);
    connect(&m_tableTimer, &QTimer::timeout, this, [this] {
        if (const RunRows* run = shown()) renderTables(*run, m_running && !m_saved);
        m_sinceTables.restart();
    });
    m_lineTimer.setSingleShot(true);
    connect(&m_lineTimer, &QTimer::timeout, this, [this] { renderLine(m_running && !m_saved); });
    connect(m_runButton, &QPushButton::clicked, this, [this] { m_running ? cancel() : run(); });
    connect(m_empty, &EmptyState::activated, this, &JobPage::run);
    connect(m_link, &QPushButton::clicked, this, [this] { if (m_action) m_action(); });
    setRunning(false);
    updateBody();
}

void JobPage::setControls(QWidget* controls) {
    m_controls = controls;
    m_controlRow->insertWidget(0, controls, 1);
    m_controlRow->setStretch(1, 0);  // the controls take the room
}

void JobPage::setBody(QWidget* body) {
    // In a window too low for it the page scrolls: charts that are squeezed below what they need write one figure over the next.
    auto* scroll = new QScrollArea(m_stack);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(body);
    m_stack->addWidget(scroll);
}

void JobPage::setControlsEnabled(bool enabled) {
    if (m_controls) m_controls->setEnabled(enabled);
}

void JobPage::setAction(const QString& label, std::function<void()> action) {
    m_action = std::move(action);
    m_link->setText(label);
    m_link->setVisible(!label.isEmpty());
}

void JobPage::attach(const Services& services) {
    m_services = services;
    connectEngine();
    m_runButton->setEnabled(true);
    m_empty->button()->setEnabled(true);
}

void JobPage::engineReplaced(const Services& services) {
    m_services = services;
    m_error->hide();
    connectEngine();
}

void JobPage::connectEngine() {
    EngineAdapter* engine = m_services.engine;
    if (!engine) return;
    connect(engine, &EngineAdapter::jobStarted, this, &JobPage::onJobStarted);
    connect(engine, &EngineAdapter::rowsArrived, this, &JobPage::onRows);
    connect(engine, &EngineAdapter::progressed, this, &JobPage::onProgress);
    connect(engine, &EngineAdapter::jobFinished, this, &JobPage::onFinished);
}

QString JobPage::runLabel() const { return m_words.run; }

void JobPage::run() {
    if (m_running || !m_services.engine) return;
    m_error->hide();
    leaveSaved();
    JobRequest wanted = request();
    const std::string kind = wanted.kind;
    const std::string command = commandLine(wanted);
    // Running from here on: what the adapter says next belongs to this page.
    setRunning(true);
    m_progressText = "Starting the engine…";
    renderLine(true);
    if (const auto started = m_services.engine->start(std::move(wanted), command); !started) {
        setRunning(false);
        renderLine(false);
        showError(started.error());
    }
}

void JobPage::cancel() {
    if (!m_running || !m_services.engine) return;
    m_cancelling = true;
    m_runButton->setEnabled(false);
    m_progressText = "Stopping…";
    renderLine(true);
    m_services.engine->cancel();
}

void JobPage::onJobStarted(const RunHeader& run) {
    if (!m_running) return;
    m_live = RunRows(run);
    m_tableTimer.stop();
    render();
    updateBody();
}

void JobPage::onRows(const std::vector<RowRecord>& batch) {
    if (!m_running) return;
    // Raw samples are many and stay in the store: a page asks for those of one row when they are looked at.
    for (const RowRecord& row : batch) {
        if (row.type != RowSchema<SampleRow>::kName) m_live.apply(row);
    }
    if (m_saved) return;  // it goes on behind the saved run
    updateBody();
    renderCharts(m_live, true);
    renderLineSoon();
    if (!m_tableTimer.isActive()) {
        const qint64 since = m_sinceTables.isValid() ? m_sinceTables.elapsed() : kTableIntervalMs;
        m_tableTimer.start(int(std::max<qint64>(0, kTableIntervalMs - since)));
    }
    emit renderedLive();
}

void JobPage::onProgress(const Progress& progress) {
    if (!m_running) return;
    if (progress.total > 0) {
        m_progress->setRange(0, int(std::min<std::int64_t>(progress.total, 1'000'000)));
        m_progress->setValue(int(progress.done));
    } else {
        m_progress->setRange(0, 0);
    }
    if (m_cancelling) return;
    QStringList parts{toQt(progress.phase)};
    if (progress.total > 0) parts << QString("%1 of %2").arg(qlonglong(progress.done)).arg(qlonglong(progress.total));
    if (progress.secondsLeft && *progress.secondsLeft > 0.5) parts << duration(*progress.secondsLeft) + " left";
    m_progressText = parts.join(" · ");
    if (m_saved) return;
    progressShown(progress);
    renderLineSoon();
}

void JobPage::onFinished(const RunHeader& run, const Finished& finished) {
    if (!m_running) return;
    setRunning(false);
    progressShown({});
    m_live.setHeader(run);
    if (finished.status == RunStatus::failed) showError(finished.error);
    if (!m_saved) render();
    updateBody();
    emit exportableChanged();
}

void JobPage::setRunning(bool running) {
    m_running = running;
    m_cancelling = false;
    m_runButton->setText(running ? "Cancel" : m_words.run);
    m_runButton->setToolTip(running ? "Stop; what has been measured stays (Esc)" : m_words.run + " (Ctrl+R)");
    m_runButton->setAccessibleName(m_runButton->text());
    setRole(m_runButton, running ? "stop" : "primary");
    m_runButton->setEnabled(running || m_services.engine);
    m_empty->button()->setEnabled(!running && m_services.engine);
    m_empty->setSentence(running ? "The first figures come with the first pass." : m_words.empty);
    m_progress->setRange(0, running ? 0 : 1);
    m_progress->setValue(0);
    // Kept in the layout when idle, so that nothing jumps.
    QSizePolicy policy = m_progress->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_progress->setSizePolicy(policy);
    m_progress->setVisible(running);
    setControlsEnabled(!running && !m_saved);
}

const RunRows* JobPage::shown() const {
    if (m_saved) return &m_saved->rows;
    return m_live.header().kind.empty() ? nullptr : &m_live;
}

const RunRows* JobPage::exportable() const {
    const RunRows* run = shown();
    return run && !run->empty() ? run : nullptr;
}

void JobPage::render() {
    const bool live = m_running && !m_saved;
    if (const RunRows* run = shown()) {
        renderCharts(*run, live);
        renderTables(*run, live);
        m_sinceTables.restart();
    }
    renderLine(live);
}

void JobPage::renderLineSoon() {
    const qint64 since = m_sinceLine.isValid() ? m_sinceLine.elapsed() : kLineIntervalMs;
    if (since >= kLineIntervalMs) renderLine(true);
    else if (!m_lineTimer.isActive()) m_lineTimer.start(int(kLineIntervalMs - since));
}

void JobPage::renderLine(bool live) {
    m_sinceLine.restart();
    m_lineTimer.stop();
    const RunRows* run = shown();
    const QString headline = run ? headlineOf(*run) : QString();
    m_headline->setText(QString(headline).replace(" %", QString(QChar(QChar::Nbsp)) + "%"));  // no line begins with a bare "%"
    m_headline->setVisible(!headline.isEmpty());
    QString sub = run && !run->empty() ? sublineOf(*run, live) : QString();
    if (live) sub = sub.isEmpty() ? m_progressText : m_progressText + " · " + sub;
    m_subline->setText(sub);
    m_subline->setToolTip(sub);
    m_subline->setVisible(!sub.isEmpty());
}

void JobPage::updateBody() {
    const RunRows* run = shown();
    m_stack->setCurrentIndex(run && !run->empty() && m_stack->count() > 1 ? 1 : 0);
    emit exportableChanged();
}

void JobPage::showSaved(const SavedRunPtr& run) {
    m_saved = run;
    m_error->hide();
    const RunHeader& header = run->summary.header;
    QStringList facts{toQt(header.model) + (header.weights == "random" ? " (random weights)" : ""), toQt(header.device),
                      toQt(header.dtype)};
    if (header.status != RunStatus::done) facts << toQt(toString(header.status)) + (header.reason.empty() ? "" : ": " + toQt(header.reason));
    facts.removeAll(QString());  // an imported trace knows no type
    m_savedBanner->show(Banner::Kind::info, "Saved run of " + localTime(header.when), facts.join(" · "), "Back",
                        [this] { leaveSaved(); emit exportableChanged(); }, false);
    settingsShown(run->rows);
    setControlsEnabled(false);
    render();
    updateBody();
}

void JobPage::leaveSaved() {
    if (!m_saved) return;
    m_saved.reset();
    m_savedBanner->hide();
    setControlsEnabled(!m_running);
    if (shown()) settingsShown(*shown());
    render();
    updateBody();
}

void JobPage::showError(const Error& error) {
    const bool engine = !m_services.engine || m_services.engine->state() == EngineState::lost ||
                        m_services.engine->state() == EngineState::stopped;
    if (error.code == ErrorCode::environment && engine) {
        const QString advice = error.advice.empty() ? "Check the command that starts it. Saved runs open without it." : toQt(error.advice);
        m_error->show(Banner::Kind::error, toQt(error.message), advice, "Engine settings…",
                      [this] { emit engineSettingsRequested(); });
        // It may only have been slow, or the network away for a moment.
        if (m_services.engine) m_error->addAction("Try again", [this] {
            m_error->hide();
            m_services.engine->connectEngine();
        });
    } else if (error.code == ErrorCode::badInput) {
        m_error->show(Banner::Kind::error, toQt(error.message), toQt(error.advice), "Open another model…",
                      [this] { emit modelFolderRequested(); });
    } else {
        m_error->show(Banner::Kind::error, toQt(error.message), toQt(error.advice), "Try again", [this] { run(); });
    }
}

}  // namespace kernelscope::ui
