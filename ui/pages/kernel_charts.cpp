#include "ui/pages/kernel_charts.h"

#include <algorithm>

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QListWidget>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/charts/cell_grid.h"
#include "ui/charts/error_chart.h"
#include "ui/charts/roofline_plot.h"
#include "ui/charts/speedup_plot.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/operator_delegate.h"
#include "ui/widgets/segmented.h"

namespace kernelscope::ui {
namespace {

QComboBox* addChoice(QVBoxLayout* column, const QString& name, QWidget* parent) {
    auto* combo = new QComboBox(parent);
    combo->setAccessibleName(name);
    combo->setObjectName(name);
    combo->setToolTip(name);
    column->addWidget(combo);
    return combo;
}

bool holds(const std::vector<std::string>& values, const std::string& value) { return std::find(values.begin(), values.end(), value) != values.end(); }

// Native beside itself shows nothing: it is looked at where it is chosen, or where it is all there is.
std::string variantToShow(const std::vector<std::string>& variants, const std::string& own) {
    for (const std::string& wanted : {own, std::string("fused")})
        if (holds(variants, wanted)) return wanted;
    const auto other = std::find_if(variants.rbegin(), variants.rend(), [](const std::string& variant) { return variant != "native"; });
    return other != variants.rend() ? *other : variants.empty() ? std::string() : variants.back();
}

// Keeps the choice where the new list still has it.
void refill(QComboBox* combo, const std::vector<std::string>& values, std::string& chosen, const std::string& preferred) {
    QStringList texts;
    for (const std::string& value : values) texts << toQt(value);
    QStringList before;
    for (int i = 0; i < combo->count(); ++i) before << combo->itemText(i);
    if (before != texts) {
        combo->clear();
        combo->addItems(texts);
    }
    if (!holds(values, chosen)) chosen = holds(values, preferred) ? preferred : values.empty() ? std::string() : values.back();
    combo->setCurrentText(toQt(chosen));
    combo->setVisible(!values.empty());
}

}  // namespace

KernelCharts::KernelCharts(QWidget* parent)
    : QWidget(parent), m_lineCard(new Card("Speed-up", this)), m_gridCard(new Card("Shapes", this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(space(this, 2));
    auto* operatorCard = new Card("Operators", this);
    operatorCard->setFixedWidth(space(this, 4 * 11.5));
    m_operators = new QListWidget(operatorCard);
    m_operators->setAccessibleName("Operators");
    m_operators->setItemDelegate(new OperatorDelegate(m_operators));
    m_operators->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    operatorCard->setBody(m_operators);
    m_variant = addChoice(operatorCard->bodyLayout(), "Variant", operatorCard);
    m_dtype = addChoice(operatorCard->bodyLayout(), "Type of the kernel", operatorCard);
    m_cache = addChoice(operatorCard->bodyLayout(), "State of the cache", operatorCard);
    m_lines = new SpeedupPlot(m_lineCard);
    m_errors = new ErrorChart(m_lineCard);
    m_roofline = new RooflinePlot(m_lineCard);
    m_picture = new Segmented("Picture", m_lineCard);
    m_picture->add("Speed-up", "speedup", "Over native against rows");
    m_picture->add("Errors", "errors", "Where in the result the errors are, beside native's");
    m_picture->add("Roofline", "roofline", "Operations and bytes against what this device's copies and matrix products reach");
    m_lineCard->addTool(m_picture);
    m_pictures = new QStackedWidget(m_lineCard);
    for (QWidget* picture : {static_cast<QWidget*>(m_lines), static_cast<QWidget*>(m_errors), static_cast<QWidget*>(m_roofline)}) m_pictures->addWidget(picture);
    m_lineCard->setBody(m_pictures);
    m_figure = new Segmented("Figure in the cells", m_gridCard);
    m_figure->add("Limit", "limit", "Per cent of what the device can do at this shape");
    m_figure->add("Speed-up", "speedup", "Over native");
    m_figure->add("Time", "time", "Microseconds on the device");
    m_figure->add("Valid", "valid", "Worst state of all validation cases");
    m_gridCard->addTool(m_figure);
    m_grid = new CellGrid("Shapes: hidden sizes by rows", m_gridCard);
    m_gridCard->setBody(m_grid);
    row->addWidget(operatorCard);
    row->addWidget(m_lineCard, 1);
    row->addWidget(m_gridCard, 1);

    connect(m_operators, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (m_filling || !item) return;
        m_view.op = fromQt(item->text());
        fillChoices();
        redraw();
        emit viewChanged();
    });
    for (auto [combo, member] : {std::pair{m_variant, &KernelView::variant}, {m_dtype, &KernelView::dtype}, {m_cache, &KernelView::cache}}) {
        connect(combo, &QComboBox::currentTextChanged, this, [this, member = member](const QString& text) {
            if (m_filling) return;
            m_view.*member = fromQt(text);
            if (member == &KernelView::variant) m_variantChosen = true;
            redraw();
            emit viewChanged();
        });
    }
    connect(m_figure, &Segmented::changed, this, &KernelCharts::redraw);
    connect(m_picture, &Segmented::changed, this, [this] {
        choosePicture();
        emit viewChanged();
    });
    connect(m_roofline, &RooflinePlot::clicked, this, &KernelCharts::cellClicked);
    connect(m_grid, &CellGrid::clicked, this, &KernelCharts::cellClicked);
    for (Chart* chart : charts()) connect(chart, &Chart::saveRequested, this, [this, chart] { emit savePictureRequested(chart); });
}

QList<Chart*> KernelCharts::charts() const { return {m_lines, m_grid, m_errors, m_roofline}; }

void KernelCharts::choosePicture() {
    const QString picture = m_picture->value();
    m_pictures->setCurrentWidget(picture == "errors" ? static_cast<QWidget*>(m_errors) : picture == "roofline" ? static_cast<QWidget*>(m_roofline) : m_lines);
    // Short titles, so that they stand whole beside the tools in a narrow window; what is cut of a hint is in its tool tip.
    m_lineCard->setTitle(picture == "errors" ? "Errors" : picture == "roofline" ? "Roofline" : "Speed-up");
    m_lineCard->setHint(picture == "errors" ? "where they are, against float64" : picture == "roofline" ? "• this variant, × native" : "against rows, a line a hidden size, band: 95 %");
}

void KernelCharts::showEvidence(const RunRows& run) {
    // Of hundreds of cells these are megabytes of text: only what is looked at is taken apart.
    const QString picture = m_picture->value();
    if (picture == "errors") m_errors->setView(errorView(run.othersAs<ErrorMapRow>(), m_view, m_chosen));
    if (picture == "roofline") m_roofline->setView(rooflineView(run.othersAs<RooflineRow>(), m_swept, m_view));
}

void KernelCharts::show(std::vector<ValidateRow> validated, std::vector<SweepRow> swept) {
    m_validated = std::move(validated);
    m_swept = std::move(swept);
    m_filling = true;
    auto summaries = operatorSummaries(m_validated, m_swept);
    if (summaries != m_summaries) {
        m_summaries = std::move(summaries);
        m_operators->clear();
        for (const OperatorSummary& summary : m_summaries) {
            auto* item = new QListWidgetItem(toQt(summary.op), m_operators);
            item->setData(Qt::ToolTipRole, summary.status);
            item->setData(Qt::UserRole, summary.status);
            item->setData(kToneRole, int(summary.tone));
            item->setData(kIconRole, summary.icon);
        }
    }
    const auto known = std::any_of(m_summaries.begin(), m_summaries.end(), [this](const auto& summary) { return summary.op == m_view.op; });
    if (!known) m_view.op = m_summaries.empty() ? std::string() : m_summaries.front().op;
    for (int i = 0; i < m_operators->count(); ++i) {
        if (fromQt(m_operators->item(i)->text()) == m_view.op) m_operators->setCurrentRow(i);
    }
    m_filling = false;
    if (m_swept.empty() && m_figure->value() != "valid") m_figure->setValue("valid");
    if (!m_swept.empty() && m_validated.empty() && m_figure->value() == "valid") m_figure->setValue("limit");
    for (const char* figure : {"limit", "speedup", "time"}) m_figure->setOptionEnabled(figure, !m_swept.empty(), m_swept.empty() ? "Nothing swept yet" : "");
    m_figure->setOptionEnabled("valid", !m_validated.empty(), m_validated.empty() ? "This run holds no validation cases" : "");
    const QString none = m_swept.empty() ? "Nothing swept yet" : "";
    for (const char* picture : {"speedup", "roofline"}) m_picture->setOptionEnabled(picture, !m_swept.empty(), none);
    const QSignalBlocker quiet(m_picture);  // what follows draws it
    if (m_swept.empty() && m_picture->value() != "errors") {
        m_onlyErrors = true;
        m_picture->setValue("errors");
    } else if (!m_swept.empty() && m_onlyErrors) {
        m_onlyErrors = false;
        m_picture->setValue("speedup");
    }
    choosePicture();
    fillChoices();
    redraw();
}

void KernelCharts::setOperator(const QString& op) {
    for (QListWidgetItem* item : m_operators->findItems(op, Qt::MatchExactly)) m_operators->setCurrentItem(item);
}

void KernelCharts::setChosenCell(const std::string& key) {
    m_chosen = key;
    m_grid->setChosen(key);
}

void KernelCharts::setPlan(const nlohmann::json& settings) {
    const auto list = [&](const char* key) {
        std::vector<std::int64_t> values;
        if (!settings.contains(key) || !settings[key].is_array()) return values;
        for (const auto& value : settings[key]) if (value.is_number_integer()) values.push_back(value.get<std::int64_t>());
        return values;
    };
    m_plannedHidden = list("hidden");
    m_plannedRows = list("rows");
    std::string own;
    if (const auto file = settings.find("kernel"); file != settings.end() && file->is_string()) own = fromQt(QFileInfo(toQt(file->get<std::string>())).completeBaseName());
    if (own == m_ownVariant) return;
    m_ownVariant = std::move(own);
    m_variantChosen = false;
}

void KernelCharts::setBusy(const std::string& key) {
    m_busy = key;
    m_grid->setBusy(busyShape(key, m_view));
}

void KernelCharts::fillChoices() {
    m_filling = true;
    const auto variants = variantsOf(m_validated, m_swept, m_view.op);
    const std::string shown = variantToShow(variants, m_ownVariant);
    if (!m_variantChosen) m_view.variant = shown;
    refill(m_variant, variants, m_view.variant, shown);
    refill(m_dtype, dtypesOf(m_validated, m_swept), m_view.dtype, "float16");
    refill(m_cache, cachesOf(m_swept), m_view.cache, "cold");
    m_filling = false;
}

void KernelCharts::redraw() {
    for (int i = 0; i < m_operators->count(); ++i) {
        QListWidgetItem* item = m_operators->item(i);
        item->setData(kRawRole, bestSpeedup(m_swept, {fromQt(item->text()), {}, m_view.dtype, m_view.cache}));
    }
    m_lines->setLines(speedupLines(m_swept, m_view));
    const QString figure = m_figure->value();
    if (figure == "valid") {
        m_gridCard->setTitle("Validation");
        m_gridCard->setHint("worst of all cases");
        m_grid->setGrid(withPlan(validationGrid(m_validated, m_view), m_plannedHidden, m_plannedRows));
    } else {
        m_gridCard->setTitle(figure == "limit" ? "Limit, %" : figure == "speedup" ? "Speed-up" : "Time, µs");
        m_gridCard->setHint(figure == "limit" ? "share of what the device can do, hidden × rows" : figure == "speedup" ? "over native, hidden × rows" : "on the device, hidden × rows");
        const GridFigure what = figure == "limit" ? GridFigure::limit : figure == "speedup" ? GridFigure::speedup : GridFigure::deviceUs;
        m_grid->setGrid(withPlan(sweepGrid(m_swept, m_view, what), m_plannedHidden, m_plannedRows));
    }
    m_grid->setBusy(busyShape(m_busy, m_view));
}

}  // namespace kernelscope::ui
