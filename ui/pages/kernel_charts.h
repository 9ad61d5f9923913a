#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include <QWidget>

#include "ui/charts/chart.h"
#include "ui/models/kernel_summary.h"
#include "ui/services/run_rows.h"

class QComboBox;
class QListWidget;
class QStackedWidget;

namespace kernelscope::ui {

class Card;
class CellGrid;
class ErrorChart;
class RooflinePlot;
class Segmented;
class SpeedupPlot;

/// Operators with their status, speed-up lines, and the grid of shapes.
class KernelCharts : public QWidget {
    Q_OBJECT
public:
    explicit KernelCharts(QWidget* parent = nullptr);

    void show(std::vector<ValidateRow> validated, std::vector<SweepRow> swept);
    /// The run's maps of errors and work models, for the charts that need them; after show().
    void showEvidence(const RunRows& run);
    [[nodiscard]] const KernelView& view() const { return m_view; }
    void setOperator(const QString& op);
    void setChosenCell(const std::string& key);
    /// The shapes that a run is about, so that the grid shows those to come, and the kernel of the user's own, which is then the variant shown first.
    void setPlan(const nlohmann::json& settings);
    /// The cell being worked on, by its key; empty: none.
    void setBusy(const std::string& key);
    [[nodiscard]] QList<Chart*> charts() const;
    [[nodiscard]] CellGrid* grid() const { return m_grid; }
    [[nodiscard]] SpeedupPlot* lines() const { return m_lines; }
    [[nodiscard]] ErrorChart* errors() const { return m_errors; }
    [[nodiscard]] RooflinePlot* roofline() const { return m_roofline; }
    [[nodiscard]] Segmented* pictures() const { return m_picture; }

signals:
    void viewChanged();
    void cellClicked(const QString& key);
    void savePictureRequested(kernelscope::ui::Chart* chart);

private:
    void fillChoices();
    void redraw();
    void choosePicture();

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
    Segmented* m_picture;
    QStackedWidget* m_pictures;
    SpeedupPlot* m_lines;
    ErrorChart* m_errors;
    RooflinePlot* m_roofline;
    std::string m_chosen, m_busy;
    std::vector<std::int64_t> m_plannedHidden, m_plannedRows;
    CellGrid* m_grid;
    std::string m_ownVariant;      ///< of the kernel of the user's own that the run is about; empty: none
    bool m_variantChosen = false;  ///< by the user, since then
    bool m_filling = false;
    bool m_onlyErrors = false;  ///< the errors are shown because there was nothing else
};

}  // namespace kernelscope::ui
