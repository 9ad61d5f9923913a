#include "ui/pages/context_panel.h"

#include <algorithm>

#include <QComboBox>
#include <QGridLayout>
#include <QSignalBlocker>

#include "ui/charts/context_plot.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/table_view.h"

namespace kernelscope::ui {

ContextPanel::ContextPanel(QWidget* parent) : QWidget(parent) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(space(this, 2));
    const auto addCard = [&](const QString& title, const QString& hint, QWidget* content, int column) {
        auto* card = new Card(title, this);
        card->setHint(hint);
        content->setParent(card);
        card->setBody(content);
        grid->addWidget(card, 0, column);
        grid->setColumnStretch(column, 1);
        return card;
    };
    m_decode = new ContextPlot("Decode, milliseconds a token", "ms a token");
    addCard("Decode", "one line a batch, band: 95 %", m_decode, 0);
    m_shares = new ShareColumns;
    Card* shares = addCard("Shares", "where the time goes", m_shares, 1);
    m_batch = new QComboBox(shares);
    m_batch->setAccessibleName("Batch of the shares");
    m_clock = new Segmented("Shares of", shares);
    m_clock->add("Span", "span", "Shares of the wall clock, launch gaps included");
    m_clock->add("GPU", "gpu", "Shares of the GPU's own time");
    shares->addTool(m_batch);
    shares->addTool(m_clock);
    m_memory = new ContextPlot("Peak memory", "GiB");
    addCard("Peak memory", "weights, cache and the step", m_memory, 2);
    m_model = new ContextTable(contextColumns(), this);
    m_table = new TableView("Points");
    m_table->setSource(m_model);
    m_table->setStretchColumn(9);
    auto* card = new Card("Points", this);
    card->setBody(m_table);
    grid->addWidget(card, 1, 0, 1, 3);
    grid->setRowStretch(0, 3);
    grid->setRowStretch(1, 2);
    connect(m_batch, &QComboBox::currentTextChanged, this, &ContextPanel::drawShares);
    connect(m_clock, &Segmented::changed, this, &ContextPanel::drawShares);
    connect(m_table, &TableView::exportRequested, this, &ContextPanel::exportRequested);
    for (Chart* chart : charts()) connect(chart, &Chart::saveRequested, this, [this, chart] { emit savePictureRequested(chart); });
}

QList<Chart*> ContextPanel::charts() const { return {m_decode, m_shares, m_memory}; }

void ContextPanel::showCharts(const RunRows& run) {
    const auto rows = run.as<ContextRow>();
    m_shareRows = run.othersAs<ContextShareRow>();
    m_shares->sayWhyEmpty(run.header().status == RunStatus::running ? QString("No shares yet")
                                                                     : QString("This run came with its points alone, without the shares of each."));
    m_decode->setLines(decodeLines(rows));
    m_memory->setLines(memoryLines(rows));
    QStringList batches;
    for (const std::int64_t batch : batchesOf(rows)) batches << QString("batch %1").arg(batch);
    QStringList before;
    for (int i = 0; i < m_batch->count(); ++i) before << m_batch->itemText(i);
    if (batches != before) {
        const QSignalBlocker quiet(m_batch);
        const QString chosen = m_batch->currentText();
        m_batch->clear();
        m_batch->addItems(batches);
        if (batches.contains(chosen)) m_batch->setCurrentText(chosen);
    }
    m_batch->setVisible(batches.size() > 1);
    const bool gpu = std::any_of(m_shareRows.begin(), m_shareRows.end(), [](const auto& row) { return row.gpuSharePct.has_value(); });
    m_clock->setOptionEnabled("gpu", gpu, gpu ? "" : "This run knows no GPU time");
    if (!gpu) m_clock->setValue("span");
    drawShares();
}

void ContextPanel::showTable(const RunRows& run) {
    const bool first = m_model->rowCount() == 0;
    m_model->reset(run.as<ContextRow>());
    m_table->hideUnknownColumns();
    if (first) m_table->fitColumns();
}

void ContextPanel::drawShares() {
    const qlonglong batch = m_batch->currentText().section(' ', -1).toLongLong();
    m_shares->setColumns(shareColumns(m_shareRows, batch, m_clock->value() == "gpu"));
}

}  // namespace kernelscope::ui
