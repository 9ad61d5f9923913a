#pragma once

#include <QWidget>

#include "ui/models/context_summary.h"
#include "ui/services/run_rows.h"

class QComboBox;

namespace kernelscope::ui {

class Card;
class Chart;
class ContextPlot;
class Segmented;
class ShareColumns;
class TableView;

/// A decode step against the length of its context: time, shares, memory, and the table of them.
class ContextPanel : public QWidget {
    Q_OBJECT
public:
    explicit ContextPanel(QWidget* parent = nullptr);
    void showCharts(const RunRows& run);
    void showTable(const RunRows& run);
    [[nodiscard]] QList<Chart*> charts() const;
    [[nodiscard]] ContextPlot* decode() const { return m_decode; }
    [[nodiscard]] ContextPlot* memory() const { return m_memory; }
    [[nodiscard]] ShareColumns* shares() const { return m_shares; }
    [[nodiscard]] ContextTable* model() const { return m_model; }

signals:
    void savePictureRequested(kernelscope::ui::Chart* chart);
    void exportRequested();

private:
    void drawShares();

    std::vector<ContextShareRow> m_shareRows;
    ContextPlot* m_decode;
    ContextPlot* m_memory;
    ShareColumns* m_shares;
    QComboBox* m_batch;
    Segmented* m_clock;
    ContextTable* m_model;
    TableView* m_table;
};

}  // namespace kernelscope::ui
