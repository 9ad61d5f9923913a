#include "ui/pages/compare_panel.h"

#include <algorithm>
#include <cmath>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/charts/ratio_chart.h"
#include "ui/models/kernel_summary.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/card.h"
#include "ui/widgets/table_view.h"

namespace kernelscope::ui {
namespace {

constexpr std::size_t kMostBars = 14;  // as many as fit above a table without scrolling

QString readableKey(const std::string& key) { return toQt(key).replace('|', " · "); }

QString nameOf(const RunSummary& run) {
    return QString("%1 (%2, %3, %4)").arg(toQt(run.header.id), localTime(run.header.when), toQt(run.header.model), toQt(run.header.device));
}

// "decode · type · MLP" and its like are told apart by their ends: what all of them begin with is left out.
void shorten(std::vector<RatioBar>& bars) {
    const QString separator = " · ";
    while (bars.size() > 1) {
        const QString first = bars.front().label.section(separator, 0, 0) + separator;
        if (!std::all_of(bars.begin(), bars.end(), [&](const RatioBar& bar) { return bar.label.startsWith(first); })) return;
        for (RatioBar& bar : bars) bar.label.remove(0, first.size());
    }
}

// The first figure of which something can be told: one run each of a GPU's profile tells of its own time, and seldom of the wall clock.
QString tellingMetric(const Comparison& comparison, const QStringList& metrics) {
    const auto told = [&](const QString& metric) {
        return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                           [&](const CompareRow& row) { return toQt(row.metric) == metric && row.ratio && row.verdict != "cant_tell" && row.verdict != "unmatched"; });
    };
    const auto found = std::find_if(metrics.begin(), metrics.end(), told);
    return found != metrics.end() ? *found : metrics.value(0);
}

QVariant real(const std::optional<double>& value) { return value ? QVariant(*value) : QVariant(); }

}  // namespace

std::vector<ColumnSpec<CompareRow>> compareColumns() {
    using Row = const CompareRow&;
    const auto look = [](Row row) { return verdictLook(row.verdict); };
    return {
        {.title = "Row", .raw = [](Row row) { return QVariant(toQt(row.key)); }, .text = [](Row row) { return readableKey(row.key); }},
        {.title = "Figure", .raw = [](Row row) { return QVariant(toQt(row.metric)); }},
        {.title = "Baseline", .numeric = true, .raw = [](Row row) { return real(row.baseline); }, .text = [](Row row) { return number(row.baseline, 2); }},
        {.title = "Candidate", .numeric = true, .raw = [](Row row) { return real(row.candidate); }, .text = [](Row row) { return number(row.candidate, 2); }},
        {.title = "Unit", .raw = [](Row row) { return QVariant(toQt(row.unit)); }, .text = [](Row row) { return row.unit == "us" ? QString::fromUtf8("µs") : toQt(row.unit); }},
        {.title = "Ratio", .toolTip = "Above 1 the candidate is faster", .numeric = true, .raw = [](Row row) { return real(row.ratio); },
         .text = [](Row row) { return row.ratio ? number(*row.ratio, 3) + "x" : QString(); }},
        {.title = "95 % interval", .numeric = true, .raw = [](Row row) { return real(row.ratioCiLow); },
         .text = [](Row row) { return row.ratioCiLow && row.ratioCiHigh ? number(*row.ratioCiLow, 3) + " to " + number(*row.ratioCiHigh, 3) : QString(); }},
        {.title = "Verdict", .raw = [](Row row) { return QVariant(toQt(row.verdict)); }, .text = [look](Row row) { return look(row).text; },
         .tone = [look](Row row) { return look(row).tone; }, .icon = [look](Row row) { return look(row).icon; }, .hint = [](Row row) { return toQt(row.reason); }},
        {.title = "Reason", .raw = [](Row row) { return QVariant(toQt(row.reason)); }, .hint = [](Row row) { return toQt(row.reason); }},
        {.title = "Candidate run", .raw = [](Row row) { return QVariant(toQt(row.candidateRun)); }},
    };
}

ComparePanel::ComparePanel(QWidget* parent)
    : QWidget(parent), m_headline(new QLabel(this)), m_runs(new QLabel(this)), m_notes(new Banner(this)), m_chartCard(new Card("Ratio to the baseline", this)),
      m_metric(new QComboBox(m_chartCard)), m_chart(new RatioChart(m_chartCard)), m_tableCard(new Card("Rows", this)),
      m_model(new CompareTable(compareColumns(), this)), m_table(new TableView("Compared rows", m_tableCard)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    auto* head = new QHBoxLayout;
    m_headline->setProperty("role", "headline");
    m_headline->setWordWrap(true);
    auto* back = new QPushButton("Back to the runs", this);
    auto* save = new QPushButton("Export…", this);
    for (QPushButton* button : {back, save}) button->setAutoDefault(false);
    head->addWidget(m_headline, 1);
    head->addWidget(save);
    head->addWidget(back);
    m_runs->setProperty("role", "muted");
    m_runs->setWordWrap(true);
    m_metric->setAccessibleName("Figure compared");
    m_chartCard->addTool(m_metric);
    m_chartCard->setBody(m_chart);
    m_table->setSource(m_model);
    m_table->setStretchColumn(8);
    m_tableCard->addTool(m_table->makeFilterBox("Filter"));
    m_tableCard->setBody(m_table);
    column->addLayout(head);
    column->addWidget(m_runs);
    column->addWidget(m_notes);
    column->addWidget(m_chartCard, 1);
    column->addWidget(m_tableCard, 1);
    connect(back, &QPushButton::clicked, this, &ComparePanel::backRequested);
    connect(save, &QPushButton::clicked, this, &ComparePanel::exportRequested);
    connect(m_table, &TableView::exportRequested, this, &ComparePanel::exportRequested);
    connect(m_metric, &QComboBox::currentTextChanged, this, &ComparePanel::redraw);
    connect(m_chart, &Chart::saveRequested, this, [this] { emit savePictureRequested(m_chart); });
}

void ComparePanel::show(const ComparisonPtr& comparison) {
    m_comparison = comparison;
    QStringList names, metrics;
    for (const RunSummary& run : comparison->runs) names << nameOf(run);
    m_runs->setText("Baseline " + names.join("  ·  against  "));
    for (const CompareRow& row : comparison->rows) {
        if (row.ratio && !metrics.contains(toQt(row.metric))) metrics << toQt(row.metric);
    }
    m_metric->clear();
    m_metric->addItems(metrics);
    m_metric->setCurrentText(tellingMetric(*comparison, metrics));
    m_metric->setVisible(metrics.size() > 1);
    QStringList notes;
    for (const std::string& note : comparison->notes) notes << toQt(note);
    if (notes.isEmpty()) m_notes->hide();
    else m_notes->show(Banner::Kind::warning, notes.front(), notes.mid(1).join('\n'), {}, {}, false);
    m_model->reset(comparison->rows);
    m_table->hideUnknownColumns(comparison->runs.size() < 3 ? QList<int>{9} : QList<int>{});
    m_table->fitColumns();
    redraw();
}

void ComparePanel::redraw() {
    if (!m_comparison) return;
    std::vector<RatioBar> bars;
    int faster = 0, slower = 0, unmatched = 0, unsure = 0;
    for (const CompareRow& row : m_comparison->rows) {
        unmatched += row.verdict == "unmatched";
        if (!row.ratio || toQt(row.metric) != m_metric->currentText()) continue;
        faster += row.verdict == "faster";
        slower += row.verdict == "slower";
        unsure += row.verdict == "cant_tell";
        bars.push_back({readableKey(row.key), *row.ratio, row.ratioCiLow, row.ratioCiHigh, row.verdict});
    }
    const std::size_t all = bars.size();
    shorten(bars);
    std::stable_sort(bars.begin(), bars.end(), [](const RatioBar& a, const RatioBar& b) { return std::abs(std::log(a.ratio)) > std::abs(std::log(b.ratio)); });
    if (bars.size() > kMostBars) bars.resize(kMostBars);
    QStringList parts{QString("%1 of %2 rows faster").arg(faster).arg(all), QString("%1 slower").arg(slower)};
    if (unsure > 0) parts << QString("%1 can't tell").arg(unsure);
    if (unmatched > 0) parts << QString("%1 without a counterpart").arg(unmatched);
    m_headline->setText(all == 0 ? QString("These runs have no row in common") : parts.join(", "));
    m_chartCard->setVisible(all > 0);
    m_chartCard->setHint(all > bars.size() ? QString("the %1 largest changes of %2, 95 % intervals").arg(bars.size()).arg(all) : QString("95 % intervals"));
    m_tableCard->setHint(QString("%1 rows").arg(m_comparison->rows.size()));
    m_chart->setBars(std::move(bars));
}

std::string ComparePanel::document(ExportFormat format) const {
    std::string command = "kernelscope-cli compare";
    if (m_comparison)
        for (const RunSummary& run : m_comparison->runs) command += " " + run.header.id;
    return comparisonDocument(m_comparison ? *m_comparison : Comparison{}, format, command);
}

}  // namespace kernelscope::ui
