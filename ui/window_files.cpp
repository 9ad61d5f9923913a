// File dialogs of the window, and what they lead to. They are the only modal ones.

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QPrintDialog>
#include <QPrinter>
#include <QStandardPaths>
#include <QTextDocument>

#include "ui/charts/chart.h"
#include "ui/main_window.h"
#include "ui/pages/page.h"
#include "ui/pages/runs_page.h"
#include "ui/services/export_run.h"
#include "ui/services/machines.h"
#include "ui/services/print_run.h"
#include "ui/services/run_library.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

QString folderFor(const Settings& settings, const QString& key) {
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    const QString folder = settings.text(key, documents);
    return QFileInfo(folder).isDir() ? folder : QDir::homePath();
}

QFileDialog* saveDialog(QWidget* parent, const QString& title, const QString& folder, const QString& name, const QString& filters,
                        const QString& suffix) {
    auto* dialog = new QFileDialog(parent, title, folder, filters);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    dialog->selectFile(name);
    return dialog;
}

}  // namespace

void MainWindow::askModelFolder() {
    if (isElsewhere(engineText())) return askRemoteFolder();
    auto* dialog = new QFileDialog(this, "Open a model folder (config.json and *.safetensors)", folderFor(m_settings, "folders/models"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        m_settings.setText("folders/models", QFileInfo(folder).absolutePath());
        openModelFolder(folder);
    });
    dialog->open();
}

void MainWindow::askRunFile() {
    auto* dialog = new QFileDialog(this, "Open a run (exported as JSON, or a torch profiler's trace)", folderFor(m_settings, "folders/exports"), "Runs (*.json);;All files (*)");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        m_settings.setText("folders/exports", QFileInfo(file).absolutePath());
        openPath(file);
    });
    dialog->open();
}

void MainWindow::askPrint() {
    auto document = std::make_shared<QTextDocument>();
    const QList<Chart*> charts = currentPage()->charts();
    const auto ask = [this, document, charts](const std::string& markdown) {
        fillPrintout(*document, markdown, charts);
        auto printer = std::make_shared<QPrinter>(QPrinter::HighResolution);
        printer->setPageOrientation(QPageLayout::Landscape);
        auto* dialog = new QPrintDialog(printer.get(), this);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, qOverload<QPrinter*>(&QPrintDialog::accepted), this, [document, printer](QPrinter* chosen) { document->print(chosen); });
        dialog->open();
    };
    if (const auto shown = currentPage()->comparisonShown()) return ask(shown(ExportFormat::markdown));
    const RunRows* run = currentPage()->exportable();
    if (!run || !m_services.library) return;
    constexpr std::int64_t kMostRows = 1000;  // thirty pages; nobody reads more on paper, and laying them out takes its time
    m_services.library->document(toQt(run->header().id), ExportFormat::markdown, kMostRows, this, ask);
}

void MainWindow::askExport(const QString& suffix) {
    if (const auto shown = currentPage()->comparisonShown()) return askExportComparison(shown, suffix);
    if (const RunRows* run = currentPage()->exportable()) askExportOf(*run, suffix);
}

void MainWindow::askExportOf(const RunRows& run, const QString& suffix) {
    const QString id = toQt(run.header().id);
    const bool kept = m_services.library && !id.isEmpty();
    // A copy: the run may be replaced while the dialog is open. A run that is not kept can be written as CSV and JSON.
    auto copy = std::make_shared<const RunRows>(kept ? RunRows(run.header()) : run);
    const QString filters = kept ? "CSV (*.csv);;JSON (*.json);;Report (*.html);;Markdown (*.md);;Chrome trace (*.trace.json)" : "CSV (*.csv);;JSON (*.json)";
    auto* dialog = saveDialog(this, "Export", folderFor(m_settings, "folders/exports"), suggestedFileName(run.header(), suffix), filters, suffix);
    for (const QString& filter : filters.split(";;")) {
        if (filter.contains("*." + suffix + ")")) dialog->selectNameFilter(filter);
    }
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.section("*.", 1).chopped(1));
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this, copy, kept, id](const QString& file) {
        m_settings.setText("folders/exports", QFileInfo(file).absolutePath());
        if (kept) m_services.library->exportTo(id, exportFormatOf(file.toStdU16String()).value_or(ExportFormat::csv), file);
        else report(exportRun(*copy, file));
    });
    dialog->open();
}

void MainWindow::askExportSaved(const QString& id) {
    if (!m_services.library) return;
    RunHeader header;  // enough for a name: the rows come from the store
    for (const RunSummary& run : m_runs->model()->rows()) {
        if (toQt(run.header.id) == id) header = run.header;
    }
    askExportOf(RunRows(header), "csv");
}

void MainWindow::askExportComparison(const std::function<std::string(ExportFormat)>& document, const QString& suffix) {
    const QString filters = "CSV (*.csv);;JSON (*.json);;Report (*.html);;Markdown (*.md)";
    auto* dialog = saveDialog(this, "Export", folderFor(m_settings, "folders/exports"), "comparison." + suffix, filters, suffix);
    for (const QString& filter : filters.split(";;")) {
        if (filter.contains("*." + suffix + ")")) dialog->selectNameFilter(filter);
    }
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) { dialog->setDefaultSuffix(filter.section("*.", 1).chopped(1)); });
    connect(dialog, &QFileDialog::fileSelected, this, [this, document](const QString& file) {
        m_settings.setText("folders/exports", QFileInfo(file).absolutePath());
        report(writeFile(file, document(exportFormatOf(file.toStdU16String()).value_or(ExportFormat::csv))));
    });
    dialog->open();
}

void MainWindow::askSavePicture(Chart* chart) {
    auto* dialog = saveDialog(this, "Save picture", folderFor(m_settings, "folders/exports"), "chart.png",
                              "PNG (*.png);;SVG (*.svg);;PDF (*.pdf)", "png");
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.contains("svg") ? "svg" : filter.contains("pdf") ? "pdf" : "png");
    });
    connect(dialog, &QFileDialog::fileSelected, chart, [this, chart](const QString& file) {
        m_settings.setText("folders/exports", QFileInfo(file).absolutePath());
        report(savePicture(*chart, file));
    });
    dialog->open();
}

void MainWindow::report(const Result<void>& result) {
    if (!result) currentPage()->showError(result.error());
}

}  // namespace kernelscope::ui
