// Menus and shortcuts of the window.

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/charts/chart.h"
#include "ui/main_window.h"
#include "ui/pages/job_page.h"
#include "ui/services/engine_adapter.h"
#include "ui/widgets/engine_log.h"
#include "ui/widgets/hub_bar.h"

namespace kernelscope::ui {
namespace {

/// A small window of text that is not in the way.
QDialog* noteWindow(const QString& title, QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->setModal(false);
    return dialog;
}

}  // namespace

void MainWindow::makeMenus() {
    QMenu* file = menuBar()->addMenu("&File");
    file->addAction("&Open model folder…", QKeySequence::Open, this, &MainWindow::askModelFolder);
    m_recentMenu = file->addMenu("Recent &models");
    fillRecentMenu();
    file->addAction("&Get a model from the hub…", this, [this] { m_hubBar->open({}); });
    file->addSeparator();
    file->addAction("Open r&un file…", QKeySequence("Ctrl+Shift+O"), this, &MainWindow::askRunFile);
    m_recentRuns = file->addMenu("Recent ru&ns");
    m_recentRuns->setEnabled(false);
    file->addSeparator();
    m_exportCsv = file->addAction("&Export CSV…", QKeySequence("Ctrl+E"), this, [this] { askExport("csv"); });
    m_exportJson = file->addAction("Export &JSON…", this, [this] { askExport("json"); });
    m_exportReport = file->addAction("Export &report…", this, [this] { askExport("html"); });
    m_exportTrace = file->addAction("Export Chrome &trace…", this, [this] { askExport("trace.json"); });
    m_savePicture = file->addAction("&Save picture of the chart…", QKeySequence("Ctrl+Shift+S"), this, [this] {
        const auto charts = currentPage()->charts();
        if (!charts.isEmpty()) askSavePicture(charts.front());
    });
    m_print = file->addAction("&Print or save as PDF…", QKeySequence::Print, this, &MainWindow::askPrint);
    file->addSeparator();
    file->addAction("&Quit", QKeySequence("Ctrl+Q"), this, &QWidget::close);

    QMenu* run = menuBar()->addMenu("&Run");
    m_runAction = run->addAction("&Run", QKeySequence("Ctrl+R"), this, [this] { currentPage()->run(); });
    m_cancelAction = run->addAction("&Cancel", QKeySequence("Esc"), this, [this] {
        for (Page* page : m_pages) {
            auto* job = qobject_cast<JobPage*>(page);
            if (job && job->running()) job->cancel();
        }
        if (m_hubBar->fetching()) emit m_hubBar->cancelRequested();
    });
    run->addSeparator();
    run->addAction("&Engine settings…", this, [this] { emit currentPage()->engineSettingsRequested(); });
    run->addAction("Engine &log…", this, [this] {
        m_engineLog->show();
        m_engineLog->raise();
    });

    QMenu* view = menuBar()->addMenu("&View");
    auto* schemes = new QActionGroup(this);
    const std::pair<const char*, Scheme> entries[] = {{"&System", Scheme::system}, {"&Light", Scheme::light},
                                                      {"&Dark", Scheme::dark}, {"&High contrast", Scheme::highContrast}};
    for (const auto& [label, scheme] : entries) {
        QAction* action = view->addAction(label, this, [this, scheme = scheme] { setScheme(scheme); });
        action->setCheckable(true);
        action->setChecked(m_settings.scheme() == scheme);
        schemes->addAction(action);
    }
    view->addSeparator();
    QAction* larger = view->addAction("L&arger", this, [this] { setZoom(m_settings.zoom() * 1.1); });
    larger->setShortcuts({QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")});
    view->addAction("S&maller", QKeySequence("Ctrl+-"), this, [this] { setZoom(m_settings.zoom() / 1.1); });
    view->addAction("&Normal size", QKeySequence("Ctrl+0"), this, [this] { setZoom(1); });

    QMenu* help = menuBar()->addMenu("&Help");
    help->addAction("&Keyboard", QKeySequence("F1"), this, &MainWindow::showShortcuts);
    help->addAction("&About Kernelscope", this, &MainWindow::showAbout);

    auto* menu = new QMenu(m_export);
    menu->addActions({m_exportCsv, m_exportJson, m_exportReport, m_exportTrace, m_savePicture});
    m_export->setMenu(menu);
    m_export->setPopupMode(QToolButton::MenuButtonPopup);
    connect(m_export, &QToolButton::clicked, m_exportCsv, &QAction::trigger);
}

void MainWindow::fillRecentMenu() {
    m_recentMenu->clear();
    const QStringList folders = m_settings.recentModels();
    for (const QString& folder : folders) {
        m_recentMenu->addAction(QDir::toNativeSeparators(folder), this, [this, folder] { openModelFolder(folder); });
    }
    m_recentMenu->setEnabled(!folders.isEmpty());
}

void MainWindow::fillRecentRuns() {
    m_recentRuns->clear();
    for (const Settings::RecentRun& run : m_settings.recentRuns()) m_recentRuns->addAction(run.title, this, [this, id = run.id] { openRun(id); });
    m_recentRuns->setEnabled(!m_recentRuns->isEmpty() && m_services.library);
}

void MainWindow::updateActions() {
    if (!m_runAction || !currentPage()) return;
    const QString label = currentPage()->runLabel();
    const bool busy = m_services.engine && m_services.engine->running();
    m_runAction->setText(label.isEmpty() ? QString("Run") : label);
    m_runAction->setEnabled(!label.isEmpty() && !busy);
    m_cancelAction->setEnabled(busy);
    const RunRows* run = currentPage()->exportable();
    const bool comparison = bool(currentPage()->comparisonShown()), exportable = run || comparison;
    m_exportCsv->setEnabled(exportable);
    m_exportJson->setEnabled(exportable);
    m_export->setEnabled(exportable);
    const bool kept = run && m_services.library && !run->header().id.empty();
    m_exportReport->setEnabled(kept || comparison);
    m_exportTrace->setEnabled(kept && run->header().kind == "profile");
    m_print->setEnabled(kept || comparison);
    m_savePicture->setEnabled(exportable && !currentPage()->charts().isEmpty());
}

void MainWindow::showShortcuts() {
    QDialog* dialog = noteWindow("Keyboard", this);
    auto* grid = new QGridLayout(dialog);
    grid->setHorizontalSpacing(space(this, 6));
    const std::pair<const char*, const char*> entries[] = {
        {"Ctrl+R", "Run what the page is for"}, {"Esc", "Cancel; what was measured stays"},
        {"Alt+1, Alt+2, …", "Pages, from the top of the rail"}, {"Ctrl+O", "Open a model folder"},
        {"Ctrl+Shift+O", "Open a run from a file"}, {"Ctrl+P", "Print the run or the comparison, or save it as PDF"},
        {"Ctrl+E", "Export CSV"}, {"Ctrl+Shift+S", "Save the chart as PNG, SVG or PDF"},
        {"Ctrl+C", "Copy the selected rows of a table"}, {"Up, Down in a chart", "From bar to bar"},
        {"Space in a chart", "Filter the table by the bar"}, {"Ctrl++, Ctrl+-, Ctrl+0", "Larger, smaller, normal size"},
        {"Ctrl+Q", "Quit"}, {"F1", "This list"}};
    int row = 0;
    for (const auto& [keys, meaning] : entries) {
        auto* key = new QLabel(QString("<b>%1</b>").arg(QString(keys).toHtmlEscaped()), dialog);
        grid->addWidget(key, row, 0);
        grid->addWidget(new QLabel(meaning, dialog), row++, 1);
    }
    dialog->show();
}

void MainWindow::showAbout() {
    QDialog* dialog = noteWindow("About Kernelscope", this);
    auto* column = new QVBoxLayout(dialog);
    QString text = QString("<h3>Kernelscope %1</h3>"
                           "<p>Finds where a model's time goes, proves a faster kernel right, measures it over shapes, "
                           "and shows what it buys end to end.</p><p>GPL-3.0-or-later. Built on Qt and QCustomPlot.</p>")
                       .arg(QApplication::applicationVersion());
    if (m_services.engine && m_services.engine->hello()) {
        text += QString("<p>Engine: %1</p>").arg(QString::fromStdString(m_services.engine->hello()->build).toHtmlEscaped());
    }
    auto* label = new QLabel(text, dialog);
    label->setWordWrap(true);
    label->setMinimumWidth(space(this, 4 * 24));
    column->addWidget(label);
    dialog->show();
}

}  // namespace kernelscope::ui
