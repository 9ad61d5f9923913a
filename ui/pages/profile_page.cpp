#include "ui/pages/profile_page.h"

#include <algorithm>

#include <QEvent>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>

#include "core/records/headline.h"
#include "ui/charts/share_bars.h"
#include "ui/model_line.h"
#include "ui/models/profile_summary.h"
#include "ui/models/profile_tree.h"
#include "ui/models/sort_filter.h"
#include "ui/pages/profile_charts.h"
#include "ui/pages/profile_controls.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/table_view.h"

namespace kernelscope::ui {

ProfilePage::ProfilePage(const ModelLine& model, Settings& settings, QWidget* parent)
    : JobPage(model, {.run = "Profile model", .empty = "Nothing profiled yet. See which modules a pass of this model spends its time in."}, parent),
      m_settings(settings), m_controls(new ProfileControls(this)) {
    setControls(m_controls);
    setBody(makeBody());
    m_controls->restore(m_settings);
    connect(m_controls, &ProfileControls::phaseChanged, this, [this] { if (shown()) render(); });
    const auto followDevice = [this] {
        const auto device = modelLine().device();
        m_controls->setGpu(!device || device->id != "cpu");
        if (const QString id = device ? toQt(device->id) : QString(); id != m_device) m_controls->setTraceProblem({});  // another may trace
        m_device = device ? toQt(device->id) : QString();
    };
    connect(&model, &ModelLine::changed, this, followDevice);
    followDevice();
}

QWidget* ProfilePage::makeBody() {
    auto* body = new QSplitter(Qt::Vertical, this);
    body->setObjectName("profile body");
    body->setChildrenCollapsible(false);
    body->setHandleWidth(space(this, 2));
    m_charts = new ProfileCharts(body);
    body->addWidget(m_charts);
    body->addWidget(makeTables(body));
    body->setStretchFactor(0, 3);
    body->setStretchFactor(1, 2);
    connect(m_charts, &ProfileCharts::selectionChanged, this, &ProfilePage::select);
    connect(m_charts, &ProfileCharts::savePictureRequested, this, &Page::savePictureRequested);
    return body;
}

QWidget* ProfilePage::makeTables(QWidget* parent) {
    auto* card = new Card("Modules", parent);
    m_tree = new ProfileTree(this);
    m_table = new TableView("Modules of the profile", card);
    m_table->setSource(m_tree);
    m_table->setStretchColumn(ProfileTree::kName);
    m_table->setYieldingColumn(ProfileTree::kNote);
    m_table->sortByColumn(ProfileTree::kSpanShare, Qt::DescendingOrder);
    m_table->setMouseTracking(true);
    m_table->viewport()->installEventFilter(this);
    m_check = new CrossCheckTable(crossCheckColumns(), this);
    m_checkView = new TableView("GPU time against the driver's trace", card);
    m_checkView->setSource(m_check);
    m_checkView->setStretchColumn(0);
    m_tables = new Segmented("Table shown", card);
    m_tables->add("Modules", "modules", "Every module of the profile");
    m_tables->add("Cross-check", "check", "GPU time against the driver's own trace");
    m_tables->hide();
    m_chip = new QPushButton(card);
    m_chip->setAutoDefault(false);
    m_chip->hide();
    card->addTool(m_chip);
    card->addTool(m_tables);
    card->addTool(m_table->makeFilterBox("Filter"));
    auto* stack = new QStackedWidget(card);
    stack->addWidget(m_table);
    stack->addWidget(m_checkView);
    card->setBody(stack);

    connect(m_tables, &Segmented::changed, this, [stack](const QString& shown) { stack->setCurrentIndex(shown == "check" ? 1 : 0); });
    connect(m_chip, &QPushButton::clicked, this, [this] {
        m_charts->setSelection({});
        select({});
    });
    connect(m_table, &QAbstractItemView::entered, this, &ProfilePage::lightFromTree);
    connect(m_table, &QAbstractItemView::clicked, this, &ProfilePage::lightFromTree);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &ProfilePage::lightFromTree);
    for (TableView* view : {m_table, m_checkView}) connect(view, &TableView::exportRequested, this, &Page::exportRequested);
    return card;
}

/// What a row of the tree is about lights up in the charts.
void ProfilePage::lightFromTree(const QModelIndex& index) {
    const ProfileRow* row = m_tree->row(m_table->filter()->mapToSource(index).siblingAtColumn(0));
    if (!row || isClosingRow(*row)) return m_charts->light(nullptr, {}, -1);
    m_charts->light(nullptr, toQt(row->type), layerOf(row->level == "kernel" ? row->note : row->name));
}

bool ProfilePage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_table->viewport() && event->type() == QEvent::Leave) m_charts->light(nullptr, {}, -1);
    return JobPage::eventFilter(watched, event);
}

/// The comparison where the run has one; why it has none where it was asked for in vain, which the button then says from now on.
void ProfilePage::showCrossCheck(const RunRows& run, bool live) {
    auto rows = run.othersAs<CrossCheckRow>();
    const std::string phase = fromQt(m_controls->phase());
    std::erase_if(rows, [&](const CrossCheckRow& row) { return row.phase != phase; });
    m_tables->setVisible(!rows.empty());
    if (rows.empty()) m_tables->setValue("modules");
    m_check->reset(std::move(rows));
    m_checkView->fitColumns();
    const nlohmann::json& result = run.header().result;
    const nlohmann::json::json_pointer refused("/cross_check/" + phase + "/unavailable");
    if (!live && !showsSaved() && result.is_object() && result.contains(refused) && result.at(refused).is_string()) {
        m_controls->setTraceProblem(toQt(result.at(refused).get<std::string>()));
    }
}

void ProfilePage::heedDoctor(const std::vector<DoctorRow>& checks) {
    for (const DoctorRow& row : checks)
        if (row.check == "CUPTI") m_controls->setTraceProblem(row.status == "ok" ? QString() : toQt(row.finding));
}

QList<Chart*> ProfilePage::charts() const { return m_charts->charts(); }

ShareBars* ProfilePage::bars() const { return m_charts->bars(); }

JobRequest ProfilePage::request() const {
    const ModelChoice choice = modelLine().choice();
    m_controls->remember(m_settings);
    return {.kind = "profile", .model = choice.model, .device = choice.device, .dtype = choice.dtype,
            .settings = m_controls->settings()};
}

std::vector<ProfileRow> ProfilePage::phaseRows(const RunRows& run) const {
    return rowsOfPhase(run.as<ProfileRow>(), fromQt(m_controls->phase()));
}

void ProfilePage::renderCharts(const RunRows& run, bool live) {
    const auto rows = phaseRows(run);
    const auto clock = !rows.empty() && rows.front().level == "kernel" ? ProfileCharts::Clock::kernels
                       : isOneGraph(rows)                                ? ProfileCharts::Clock::graph
                                                                         : ProfileCharts::Clock::spans;
    m_charts->showBars(shareBars(rows, live ? bars()->bars() : std::vector<ShareBar>{}, run.header().result), fromQt(m_controls->phase()), clock);
}

void ProfilePage::renderTables(const RunRows& run, bool live) {
    const std::string phase = fromQt(m_controls->phase());
    // Runs of graph mode by older engines keep what the eager passes took that warmed it up.
    const bool graph = isOneGraph(phaseRows(run));
    auto modules = run.othersAs<ProfileModuleRow>();
    if (graph) {
        for (ProfileModuleRow& module : modules) module.selfSpanUs.reset();
    }
    m_charts->showLayers(layerMap(modules, phase));
    auto events = run.othersAs<ProfileEventRow>();
    std::erase_if(events, [&](const ProfileEventRow& event) { return event.phase != phase || (graph && event.track != "kernel"); });
    m_charts->showEvents(std::move(events));
    m_charts->sayWhatIsMissing(live, run.header().status == RunStatus::done);
    showCrossCheck(run, live);

    auto rows = phaseRows(run);
    const NextStep next = live ? NextStep{} : nextStep(rows, run.header().result);
    setAction(next.type.isEmpty() ? QString() : QString("Open %1 in Kernels →").arg(next.type), [this, op = next.op] {
        emit pageRequested("Kernels");
        emit operatorRequested(op);
    });
    std::erase_if(rows, [this](const ProfileRow& row) { return !m_selection.keeps(row); });
    showColumns(rows);
    const bool first = m_tree->rowCount() == 0;
    m_table->setRootIsDecorated(!rows.empty() && rows.front().level == "leaf");
    m_tree->setRows(std::move(rows));
    if (first) m_table->fitColumns();
}

void ProfilePage::showColumns(const std::vector<ProfileRow>& rows) {
    const auto any = [&](auto member) {
        return std::any_of(rows.begin(), rows.end(), [&](const ProfileRow& row) { return (row.*member).has_value(); });
    };
    m_table->setColumnHidden(ProfileTree::kKernels, !any(&ProfileRow::kernels));
    m_table->setColumnHidden(ProfileTree::kSpan, !any(&ProfileRow::spanUs));
    m_table->setColumnHidden(ProfileTree::kSelfSpan, !any(&ProfileRow::selfSpanUs));
    m_table->setColumnHidden(ProfileTree::kGpu, !any(&ProfileRow::gpuUs));
    m_table->setColumnHidden(ProfileTree::kGap, !any(&ProfileRow::gapUs));
    m_table->setColumnHidden(ProfileTree::kSpanShare, !any(&ProfileRow::spanSharePct));
    m_table->setColumnHidden(ProfileTree::kSpanInterval, !any(&ProfileRow::spanShareCiLowPct));
    m_table->setColumnHidden(ProfileTree::kGpuShare, !any(&ProfileRow::gpuSharePct));
    m_table->setColumnHidden(ProfileTree::kNote, std::all_of(rows.begin(), rows.end(), [](const ProfileRow& row) { return row.note.empty(); }));
}

void ProfilePage::select(const ProfileSelection& selection) {
    m_selection = selection;
    m_chip->setText(selection.words + "  ×");
    m_chip->setAccessibleName("Show everything again, not only " + selection.words);
    m_chip->setVisible(!selection.empty());
    if (const RunRows* run = shown()) renderTables(*run, running());
}

QString ProfilePage::headlineOf(const RunRows& run) const {
    return toQt(phaseHeadline(run.as<ProfileRow>(), fromQt(m_controls->phase()), run.header().result));
}

QString ProfilePage::sublineOf(const RunRows& run, bool live) const { return profileSubline(phaseRows(run), run.header(), live); }

void ProfilePage::settingsShown(const RunRows& run) {
    m_controls->show(run.header().settings);
    if (!run.empty()) m_controls->setPhase(toQt(run.as<ProfileRow>().front().phase));
}

void ProfilePage::setControlsEnabled(bool enabled) { if (m_controls) m_controls->setEditable(enabled); }

}  // namespace kernelscope::ui
