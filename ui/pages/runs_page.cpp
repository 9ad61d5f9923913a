#include "ui/pages/runs_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/models/sort_filter.h"
#include "ui/services/engine_adapter.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/card.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/table_view.h"

namespace kernelscope::ui {

RunsPage::RunsPage(QWidget* parent)
    : Page(parent), m_card(new Card("Runs", this)), m_model(new RunsTable(runColumns(), this)),
      m_table(new TableView("Runs", m_card)), m_banner(new Banner(this)),
      m_empty(new EmptyState("No run has been kept yet. Each profile of this window and of kernelscope-cli appears here.",
                             "Go to Profile", this)),
      m_stack(new QStackedWidget(this)), m_open(new QPushButton("Open", this)), m_export(new QPushButton("Export…", this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    m_table->setSource(m_model);
    m_table->setStretchColumn(5);
    m_table->sortByColumn(0, Qt::DescendingOrder);
    m_open->setEnabled(false);
    m_open->setAutoDefault(false);
    m_export->setEnabled(false);
    m_export->setAutoDefault(false);
    m_card->addTool(m_table->makeFilterBox("Filter runs"));
    m_card->addTool(m_open);
    m_card->addTool(m_export);
    m_card->setBody(m_table);
    column->addWidget(m_banner);
    column->addWidget(m_stack, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_card);

    connect(m_table, &QTreeView::activated, this, [this](const QModelIndex& index) {
        emit openRunRequested(toQt(m_model->rows()[std::size_t(m_table->filter()->mapToSource(index).row())].header.id));
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPage::updateButtons);
    connect(m_open, &QPushButton::clicked, this, [this] { for (const QString& id : selectedIds().mid(0, 1)) emit openRunRequested(id); });
    connect(m_export, &QPushButton::clicked, this, [this] { for (const QString& id : selectedIds().mid(0, 1)) emit exportRunRequested(id); });
    connect(m_table, &TableView::exportRequested, m_export, &QPushButton::click);
    connect(m_empty, &EmptyState::activated, this, [this] { emit pageRequested("Profile"); });
}

void RunsPage::attach(const Services& services) {
    m_services = services;
    if (m_services.library) {
        connect(m_services.library, &RunLibrary::runsLoaded, this, &RunsPage::listed);
        connect(m_services.library, &RunLibrary::failed, this, &RunsPage::showError);
    }
    engineReplaced(services);
    refresh();
}

void RunsPage::engineReplaced(const Services& services) {
    m_services = services;
    if (!m_services.engine) return;
    connect(m_services.engine, &EngineAdapter::jobStarted, this, &RunsPage::refresh);
    connect(m_services.engine, &EngineAdapter::jobFinished, this, &RunsPage::refresh);
}

void RunsPage::entered() { refresh(); }

void RunsPage::refresh() {
    // A list nobody looks at is read when somebody does.
    m_stale = true;
    if (!isVisible() || !m_services.library) return;
    m_stale = false;
    m_services.library->refresh();
}

void RunsPage::listed(const RunList& runs) {
    const QStringList selected = selectedIds();
    const bool first = m_model->rows().empty();
    m_model->reset(*runs);
    m_stack->setCurrentIndex(runs->empty() ? 0 : 1);
    m_card->setHint(runs->size() == 1 ? QString("1 run") : QString("%1 runs").arg(runs->size()));
    const auto any = [&](auto test) { return std::any_of(runs->begin(), runs->end(), test); };
    m_table->setColumnHidden(8, !any([](const RunSummary& run) { return !run.tags.empty(); }));
    m_table->setColumnHidden(9, !any([](const RunSummary& run) { return !run.note.empty(); }));
    if (first) m_table->fitColumns();
    for (std::size_t row = 0; row < runs->size() && !selected.isEmpty(); ++row) {
        if (!selected.contains(toQt((*runs)[row].header.id))) continue;
        m_table->selectionModel()->select(m_table->filter()->mapFromSource(m_model->index(int(row), 0)),
                                          QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
    updateButtons();
}

QStringList RunsPage::selectedIds() const {
    QStringList ids;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) {
        ids << toQt(m_model->rows()[std::size_t(m_table->filter()->mapToSource(index).row())].header.id);
    }
    return ids;
}

void RunsPage::updateButtons() {
    const bool one = m_table->selectionModel()->selectedRows().size() == 1;
    m_open->setEnabled(one);
    m_export->setEnabled(one);
}

void RunsPage::showError(const Error& error) { m_banner->show(Banner::Kind::error, toQt(error.message), toQt(error.advice)); }

}  // namespace kernelscope::ui
