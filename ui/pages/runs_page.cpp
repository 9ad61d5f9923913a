#include "ui/pages/runs_page.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/models/sort_filter.h"
#include "ui/charts/ratio_chart.h"
#include "ui/pages/compare_panel.h"
#include "ui/pages/large_run_panel.h"
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
      m_table(new TableView("Runs", m_card)), m_banner(new Banner(this)), m_large(new LargeRunPanel(this)),
      m_empty(new EmptyState("No run has been kept yet. Each profile of this window and of kernelscope-cli appears here.",
                             "Go to Profile", this)),
      m_stack(new QStackedWidget(this)), m_open(new QPushButton("Open", this)), m_export(new QPushButton("Export…", this)),
      m_compareButton(new QPushButton("Compare", this)), m_delete(new QPushButton("Delete", this)), m_pin(new QPushButton("Pin", this)),
      m_command(new QLabel(this)), m_note(new QLineEdit(this)), m_tags(new QLineEdit(this)), m_compare(new ComparePanel(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    m_table->setSource(m_model);
    setFocusProxy(m_table);
    m_table->setStretchColumn(5);
    {
        // Newest first is how they come: ten thousand need no sorting until somebody asks for another order, but the header says so.
        const QSignalBlocker quiet(m_table->header());
        m_table->header()->setSortIndicator(0, Qt::DescendingOrder);
    }
    m_card->addTool(m_table->makeFilterBox("Filter runs"));
    for (QPushButton* button : {m_open, m_compareButton, m_pin, m_export, m_delete}) {
        button->setEnabled(false);
        button->setAutoDefault(false);
        m_card->addTool(button);
    }
    m_compareButton->setToolTip("Select two runs or more; the pinned one, else the oldest, is the baseline.\nRuns of one command are taken together as repeats: only they show what differs from one process to the next");
    m_pin->setToolTip("A pinned run is the baseline of comparisons");
    m_delete->setToolTip("Can be undone");
    m_card->setBody(m_table);
    m_card->bodyLayout()->addWidget(makeDetails());
    column->addWidget(m_banner);
    column->addWidget(m_stack, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_card);
    m_stack->addWidget(m_compare);
    m_stack->addWidget(m_large);

    connect(m_table, &QTreeView::activated, this, [this](const QModelIndex& index) {
        emit openRunRequested(toQt(m_model->rows()[std::size_t(m_table->filter()->mapToSource(index).row())].header.id));
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPage::updateButtons);
    connect(m_open, &QPushButton::clicked, this, [this] { for (const QString& id : selectedIds().mid(0, 1)) emit openRunRequested(id); });
    connect(m_export, &QPushButton::clicked, this, [this] { for (const QString& id : selectedIds().mid(0, 1)) emit exportRunRequested(id); });
    connect(m_table, &TableView::exportRequested, m_export, &QPushButton::click);
    connect(m_compareButton, &QPushButton::clicked, this, &RunsPage::compareSelected);
    connect(m_delete, &QPushButton::clicked, this, &RunsPage::removeSelected);
    connect(m_pin, &QPushButton::clicked, this, [this] {
        if (const RunSummary* run = selectedRun()) {
            editSelected([pinned = !run->pinned](Store& store, const std::string& id) { return store.setPinned(id, pinned); });
        }
    });
    connect(m_large, &LargeRunPanel::backRequested, this, [this] { m_stack->setCurrentIndex(1); });
    connect(m_large, &LargeRunPanel::exportRequested, this, &RunsPage::exportRunRequested);
    connect(m_compare, &ComparePanel::backRequested, this, [this] { m_stack->setCurrentIndex(1); });
    connect(m_compare, &ComparePanel::exportRequested, this, [this] { emit exportComparisonRequested([panel = m_compare](ExportFormat format) { return panel->document(format); }); });
    connect(m_compare, &ComparePanel::savePictureRequested, this, &Page::savePictureRequested);
    connect(m_empty, &EmptyState::activated, this, [this] { emit pageRequested("Profile"); });
    connect(m_stack, &QStackedWidget::currentChanged, this, &Page::exportableChanged);
}

void RunsPage::attach(const Services& services) {
    m_services = services;
    if (m_services.library) {
        connect(m_services.library, &RunLibrary::runsLoaded, this, &RunsPage::listed);
        connect(m_services.library, &RunLibrary::failed, this, &RunsPage::showError);
        connect(m_services.library, &RunLibrary::compared, this, [this](const ComparisonPtr& comparison) {
            m_compare->show(comparison);
            m_stack->setCurrentIndex(2);
        });
    }
    engineReplaced(services);
    refresh();
}

void RunsPage::showLarge(const SavedRunPtr& run) {
    m_large->show(run, m_services.library);
    m_stack->setCurrentWidget(m_large);
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
    if (m_stack->currentIndex() < 2) m_stack->setCurrentIndex(runs->empty() ? 0 : 1);
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

QWidget* RunsPage::makeDetails() {
    auto* details = new QWidget(this);
    auto* row = new QHBoxLayout(details);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(this, 2));
    m_command->setProperty("role", "muted");
    m_command->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_command->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_tags->setPlaceholderText("Tags, with commas between");
    m_tags->setAccessibleName("Tags");
    m_note->setPlaceholderText("Note");
    m_note->setAccessibleName("Note");
    row->addWidget(m_command, 2);
    row->addWidget(m_tags, 1);
    row->addWidget(m_note, 1);
    connect(m_note, &QLineEdit::editingFinished, this, [this] {
        const RunSummary* run = selectedRun();
        if (!run || toQt(run->note) == m_note->text()) return;
        editSelected([note = fromQt(m_note->text())](Store& store, const std::string& id) { return store.setNote(id, note); });
    });
    connect(m_tags, &QLineEdit::editingFinished, this, [this] {
        std::vector<std::string> tags;
        for (const QString& tag : m_tags->text().split(',', Qt::SkipEmptyParts)) {
            if (!tag.trimmed().isEmpty()) tags.push_back(fromQt(tag.trimmed()));
        }
        const RunSummary* run = selectedRun();
        if (!run || run->tags == tags) return;
        editSelected([tags](Store& store, const std::string& id) { return store.setTags(id, tags); });
    });
    return details;
}

const RunSummary* RunsPage::selectedRun() const {
    const auto selected = m_table->selectionModel()->selectedRows();
    return selected.size() == 1 ? &m_model->rows()[std::size_t(m_table->filter()->mapToSource(selected.front()).row())] : nullptr;
}

void RunsPage::editSelected(std::function<Result<void>(Store&, const std::string&)> change) {
    const RunSummary* run = selectedRun();
    if (!run || !m_services.library) return;
    m_services.library->edit([change = std::move(change), id = run->header.id](Store& store) { return change(store, id); });
}

void RunsPage::compareSelected() {
    struct Candidate { bool pinned; std::string when; QString id, command; };
    std::vector<Candidate> chosen;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) {
        const RunSummary& run = m_model->rows()[std::size_t(m_table->filter()->mapToSource(index).row())];
        chosen.push_back({run.pinned, run.header.when, toQt(run.header.id), toQt(run.header.command + "\n" + run.header.model + "\n" + run.header.device + "\n" + run.header.dtype)});
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const Candidate& a, const Candidate& b) { return a.pinned != b.pinned ? a.pinned : a.when < b.when; });
    // Repeats of one command stand together where there is another measurement to hold them against.
    QStringList ids, commands, all;
    for (const Candidate& candidate : chosen) {
        all << candidate.id;
        const auto group = commands.indexOf(candidate.command);
        if (group >= 0) ids[group] += "," + candidate.id;
        else {
            commands << candidate.command;
            ids << candidate.id;
        }
    }
    if (ids.size() < 2) ids = all;
    m_banner->hide();
    if (m_services.library) m_services.library->compare(ids);
}

void RunsPage::removeSelected() {
    const QStringList ids = selectedIds();
    if (ids.isEmpty() || !m_services.library) return;
    const auto forAll = [ids](auto what) {
        return [ids, what](Store& store) -> Result<void> {
            for (const QString& id : ids) {
                if (const auto done = (store.*what)(fromQt(id)); !done) return done.error();
            }
            return {};
        };
    };
    m_services.library->edit(forAll(&Store::remove));
    m_banner->show(Banner::Kind::info, ids.size() == 1 ? "Run " + ids.front() + " deleted" : QString("%1 runs deleted").arg(ids.size()), {}, "Undo",
                   [this, forAll] {
                       m_services.library->edit(forAll(&Store::restore));
                       m_banner->hide();
                   });
}

void RunsPage::updateButtons() {
    const int count = int(m_table->selectionModel()->selectedRows().size());
    m_open->setEnabled(count == 1);
    m_export->setEnabled(count == 1);
    m_pin->setEnabled(count == 1);
    m_delete->setEnabled(count > 0);
    m_compareButton->setEnabled(count > 1);
    const RunSummary* run = selectedRun();
    m_pin->setText(run && run->pinned ? "Unpin" : "Pin");
    m_command->setText(run ? toQt(run->header.command) : count > 1 ? QString("%1 selected").arg(count) : QString("Double click opens a run; select two to compare"));
    m_command->setToolTip(run ? toQt(run->header.command) : QString());
    for (QLineEdit* edit : {m_note, m_tags}) edit->setEnabled(run != nullptr);
    if (!m_note->hasFocus()) m_note->setText(run ? toQt(run->note) : QString());
    QStringList tags;
    if (run) for (const std::string& tag : run->tags) tags << toQt(tag);
    if (!m_tags->hasFocus()) m_tags->setText(tags.join(", "));
}

QList<Chart*> RunsPage::charts() const { return comparisonShown() ? QList<Chart*>{m_compare->chart()} : QList<Chart*>(); }

std::function<std::string(ExportFormat)> RunsPage::comparisonShown() const {
    if (m_stack->currentWidget() != m_compare || !m_compare->comparison()) return {};
    return [panel = m_compare](ExportFormat format) { return panel->document(format); };
}

void RunsPage::showError(const Error& error) { m_banner->show(Banner::Kind::error, toQt(error.message), toQt(error.advice)); }

}  // namespace kernelscope::ui
