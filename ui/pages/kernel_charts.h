#pragma once

#include <vector>

#include <QWidget>

#include "ui/charts/chart.h"
#include "ui/models/kernel_summary.h"

class QComboBox;
class QListWidget;

namespace kernelscope::ui {

class Card;
class CellGrid;
class Segmented;
class SpeedupPlot;

/// Operators with their status, speed-up lines, and the grid of shapes.
class KernelCharts : public QWidget {
    Q_OBJECT
public:
    explicit KernelCharts(QWidget* parent = nullptr);

    void show(std::vector<ValidateRow> validated, std::vector<SweepRow> swept);
    [[nodiscard]] const KernelView& view() const { return m_view; }
    void setOperator(const QString& op);
    void setChosenCell(const std::string& key);
    [[nodiscard]] QList<Chart*> charts() const;
    [[nodiscard]] CellGrid* grid() const { return m_grid; }
    [[nodiscard]] SpeedupPlot* lines() const { return m_lines; }

signals:
    void viewChanged();
    void cellClicked(const QString& key);
    void savePictureRequested(kernelscope::ui::Chart* chart);

private:
    void fillChoices();
    void redraw();

    std::vector<ValidateRow> m_validated;
    std::vector<SweepRow> m_swept;
    KernelView m_view;
    std::vector<OperatorSummary> m_summaries;
    Card* m_lineCard;
    Card* m_gridCard;
    QListWidget* m_operators;
    QComboBox* m_variant;
    QComboBox* m_dtype;
    QComboBox* m_cache;
    Segmented* m_figure;
    SpeedupPlot* m_lines;
    CellGrid* m_grid;
    bool m_filling = false;
};

}  // namespace kernelscope::ui
