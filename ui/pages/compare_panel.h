#pragma once

#include <QWidget>

#include "ui/charts/chart.h"
#include "ui/models/column_table.h"
#include "ui/services/run_library.h"

class QComboBox;
class QLabel;

namespace kernelscope::ui {

class Banner;
class Card;
class RatioChart;
class TableView;

using CompareTable = ColumnTable<CompareRow>;
std::vector<ColumnSpec<CompareRow>> compareColumns();

/// Runs side by side: what may be compared, ratios with intervals, and every row, the unmatched ones too.
class ComparePanel : public QWidget {
    Q_OBJECT
public:
    explicit ComparePanel(QWidget* parent = nullptr);
    void show(const ComparisonPtr& comparison);
    [[nodiscard]] TableView* table() const { return m_table; }
    [[nodiscard]] RatioChart* chart() const { return m_chart; }
    [[nodiscard]] QLabel* headline() const { return m_headline; }
    /// What is shown as a document; the command that makes it stands in it.
    [[nodiscard]] std::string document(ExportFormat format) const;
    [[nodiscard]] const ComparisonPtr& comparison() const { return m_comparison; }

signals:
    void backRequested();
    void exportRequested();
    void savePictureRequested(kernelscope::ui::Chart* chart);

private:
    void redraw();
    ComparisonPtr m_comparison;
    QLabel* m_headline;
    QLabel* m_runs;
    Banner* m_notes;
    Card* m_chartCard;
    QComboBox* m_metric;
    RatioChart* m_chart;
    Card* m_tableCard;
    CompareTable* m_model;
    TableView* m_table;
};

}  // namespace kernelscope::ui
