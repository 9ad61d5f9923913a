#include "ui/pages/kernels_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>

#include "core/records/row_key.h"
#include "ui/model_line.h"
#include "ui/models/kernel_summary.h"
#include "ui/models/sort_filter.h"
#include "ui/pages/kernel_charts.h"
#include "ui/pages/kernel_details.h"
#include "ui/pages/kernels_controls.h"
#include "ui/pages/own_kernel_section.h"
#include "ui/services/run_library.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/table_view.h"

namespace kernelscope::ui {
namespace {

// Of a sweep of hundreds of cells each new one moves little.
constexpr int kChartsIntervalMs = 250;

std::vector<ValidateRow> validatedOf(const RunRows& run) {
    auto rows = run.as<ValidateRow>();
    auto others = run.othersAs<ValidateRow>();  // what a sweep checked before it timed
    rows.insert(rows.end(), others.begin(), others.end());
    return rows;
}

}  // namespace

KernelsPage::KernelsPage(const ModelLine& model, Settings& settings, QWidget* parent)
    : JobPage(model, {.run = "Sweep", .empty = "No kernel measured yet. A sweep first proves each kernel right, then times it over shapes against what the model runs now."}, parent),
      m_settings(settings), m_controls(new KernelsControls(this)), m_own(new OwnKernelSection(settings, this)) {
    setControls(m_controls);
    setBody(makeBody());
    m_controls->restore(m_settings);
    connect(m_controls, &KernelsControls::validateRequested, this, &KernelsPage::validate);
    // Below the controls, above what the run says: it stays where there is no run yet.
    static_cast<QBoxLayout*>(layout())->insertWidget(1, m_own);
    m_controls->layout()->addWidget(m_own->openButton());
    m_controls->layout()->setAlignment(m_own->openButton(), Qt::AlignTop);
    connect(m_own, &OwnKernelSection::runRequested, this, &KernelsPage::run);
    connect(m_own, &OwnKernelSection::cancelRequested, this, &KernelsPage::cancel);
    connect(m_own, &OwnKernelSection::openRunRequested, this, &Page::openRunRequested);
    connect(m_own, &OwnKernelSection::gainRequested, this, [this] { emit pageRequested("End to end"); });
}

void KernelsPage::attach(const Services& services) {
    JobPage::attach(services);
    m_own->attach(services);
}

void KernelsPage::engineReplaced(const Services& services) {
    JobPage::engineReplaced(services);
    m_own->attach(services);
}

void KernelsPage::showError(const Error& error) {
    if (!m_own->showError(error)) JobPage::showError(error);
}

void KernelsPage::openKernel(const QString& file) { m_own->open(file); }

QWidget* KernelsPage::makeBody() {
    auto* body = new QSplitter(Qt::Vertical, this);
    body->setObjectName("kernels body");
    body->setChildrenCollapsible(false);
    body->setHandleWidth(space(this, 2));
    m_charts = new KernelCharts(body);
    auto* below = new QWidget(body);
    auto* row = new QHBoxLayout(below);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(this, 2));
    m_tableCard = new Card("Cells", below);
    m_details = new KernelDetails(below);
    row->addWidget(m_tableCard, 1);
    row->addWidget(m_details);
    m_sweepModel = new SweepTable(sweepColumns(), this);
    m_validationModel = new ValidationTable(validationColumns(), this);
    m_table = new TableView("Cells", m_tableCard);
    m_table->setSource(m_sweepModel);
    auto* command = new QPushButton("Copy command", m_tableCard);
    command->setAutoDefault(false);
    command->setToolTip("The command line that measures this run again");
    m_tableCard->addTool(command);
    m_tableCard->addTool(m_table->makeFilterBox("Filter"));
    m_tableCard->setBody(m_table);
    body->addWidget(m_charts);
    body->addWidget(below);
    body->setStretchFactor(0, 3);
    body->setStretchFactor(1, 2);
    connect(m_charts, &KernelCharts::viewChanged, this, [this] { if (shown()) render(); });
    connect(m_charts, &KernelCharts::savePictureRequested, this, &Page::savePictureRequested);
    connect(m_charts, &KernelCharts::cellClicked, this, [this](const QString& key) { chooseCell(fromQt(key)); });
    connect(m_table, &QTreeView::clicked, this, [this](const QModelIndex& index) {
        if (m_tableKind == "sweep") chooseCell(rowKey(m_sweepModel->rows()[std::size_t(m_table->filter()->mapToSource(index).row())]));
    });
    connect(m_table, &TableView::exportRequested, this, &Page::exportRequested);
    connect(command, &QPushButton::clicked, this, [this] {
        if (const RunRows* run = shown()) QApplication::clipboard()->setText(toQt(run->header().command));
    });
    return body;
}

void KernelsPage::chooseCell(const std::string& key) {
    m_charts->setChosenCell(key);
    if (const RunRows* run = shown()) m_charts->showEvidence(*run);
    for (int row = 0; row < m_table->model()->rowCount(); ++row) {
        const QModelIndex index = m_table->model()->index(row, 0);
        const auto source = std::size_t(m_table->filter()->mapToSource(index).row());
        const bool sweep = m_tableKind == "sweep";
        if ((sweep ? rowKey(m_sweepModel->rows()[source]) : rowKey(m_validationModel->rows()[source])) != key) continue;
        m_table->setCurrentIndex(index.siblingAtColumn(1));
        if (!sweep) break;
        m_details->show(m_sweepModel->rows()[source]);
        m_details->setSamples({});
        const RunRows* run = shown();
        if (run && services().library && !run->header().id.empty()) {
            services().library->samples(toQt(run->header().id), key, m_details, [this](const std::vector<SampleRow>& samples) { m_details->setSamples(samples); });
        }
        break;
    }
}

QList<Chart*> KernelsPage::charts() const { return m_charts->charts(); }

void KernelsPage::run() { runAs("sweep"); }
void KernelsPage::validate() { runAs("validate"); }

void KernelsPage::runAs(const std::string& kind) {
    if (const auto problem = m_controls->problem()) {
        showError(*problem);
        return;
    }
    m_kind = kind;
    JobPage::run();
}

void KernelsPage::setOperator(const QString& op) { m_charts->setOperator(op); }

JobRequest KernelsPage::request() const {
    const ModelChoice choice = modelLine().choice();
    m_controls->remember(m_settings);
    JobRequest request{.kind = m_kind, .model = choice.model, .device = m_kind == "sweep" ? choice.devices : choice.device, .dtype = choice.dtype, .settings = m_controls->settings(m_kind)};
    if (choice.dtype != "auto" && !request.settings.contains("dtypes")) request.settings["dtypes"] = choice.dtype;
    m_own->addTo(request.settings);
    return request;
}

void KernelsPage::renderCharts(const RunRows& run, bool live) {
    if (live && run.records().size() > 100 && m_sinceCharts.isValid() && m_sinceCharts.elapsed() < kChartsIntervalMs) {
        m_chartsBehind = true;
        return;
    }
    drawCharts(run);
}

void KernelsPage::drawCharts(const RunRows& run) {
    m_sinceCharts.restart();
    m_chartsBehind = false;
    m_charts->setPlan(run.header().settings);
    m_charts->show(validatedOf(run), run.as<SweepRow>());
    m_charts->showEvidence(run);
}

void KernelsPage::progressShown(const Progress& progress) { m_charts->setBusy(running() ? progress.cell : std::string()); }

void KernelsPage::renderTables(const RunRows& run, bool live) {
    if (live && m_chartsBehind) drawCharts(run);
    const KernelView& view = m_charts->view();
    const bool sweep = run.header().kind == "sweep";
    const std::string kind = sweep ? "sweep" : "validate";
    const bool other = kind != m_tableKind;
    if (other) {
        m_tableKind = kind;
        if (sweep) m_table->setSource(m_sweepModel);
        else m_table->setSource(m_validationModel);
        m_table->setStretchColumn(14);
        m_tableCard->setTitle(sweep ? "Cells" : "Cases");
    }
    // The operator in view; a cell that changed changes in place, new ones join at the end.
    const auto update = [&](auto* model, auto rows) {
        std::erase_if(rows, [&](const auto& row) { return row.op != view.op; });
        const auto& old = model->rows();
        const bool grows = rows.size() >= old.size() && std::equal(old.begin(), old.end(), rows.begin());
        const bool first = old.empty();
        if (grows) model->append({rows.begin() + std::ptrdiff_t(old.size()), rows.end()});
        else model->reset(std::move(rows));
        m_table->hideUnknownColumns({0});  // the operator stands in the title
        if (first || other) m_table->fitColumns();
        m_tableCard->setHint(QString("%1 of %2").arg(model->rowCount()).arg(toQt(view.op)));
    };
    if (sweep) update(m_sweepModel, run.as<SweepRow>());
    else update(m_validationModel, run.as<ValidateRow>());
}

QString KernelsPage::headlineOf(const RunRows& run) const {
    const KernelView& view = m_charts->view();
    const QString swept = sweepHeadline(run.as<SweepRow>(), view);
    if (!swept.isEmpty()) return toQt(view.op) + ": " + swept;
    const QString validated = validationSentence(validatedOf(run), view);
    return validated.isEmpty() ? QString() : toQt(view.op + " " + view.variant) + ": " + validated;
}

QString KernelsPage::sublineOf(const RunRows& run, bool) const {
    QStringList parts{toQt(run.header().device), toQt(m_charts->view().dtype)};
    if (run.header().kind == "sweep") {
        const QString validated = validationSentence(validatedOf(run), m_charts->view());
        if (!validated.isEmpty()) parts << validated;
        parts << QString("%1 cells").arg(run.records().size());
    }
    return parts.join(" · ");
}

void KernelsPage::settingsShown(const RunRows& run) { m_controls->show(run.header().settings); }

void KernelsPage::setControlsEnabled(bool enabled) {
    if (m_controls) m_controls->setEditable(enabled);
}

}  // namespace kernelscope::ui
