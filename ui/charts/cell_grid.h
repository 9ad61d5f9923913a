#pragma once

#include "ui/charts/chart.h"
#include "ui/models/kernel_summary.h"

namespace kernelscope::ui {

/// Hidden sizes x rows: a figure or a state in each cell, the darker the larger.
class CellGrid : public Chart {
    Q_OBJECT
public:
    CellGrid(const QString& name, QWidget* parent = nullptr);
    void setGrid(Grid grid);
    [[nodiscard]] const Grid& grid() const { return m_grid; }
    void setChosen(const std::string& key);
    /// Hidden size and rows of the cell being worked on, if it is in the grid.
    void setBusy(std::optional<std::pair<std::int64_t, std::int64_t>> shape);

    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QRectF cellRect(int hidden, int rows) const { return cellRect(rect(), hidden, rows); }

signals:
    void clicked(const QString& key);

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] QRectF cellRect(const QRectF& area, int hidden, int rows) const;
    [[nodiscard]] const GridCell* cellAt(const QPointF& position) const;
    Grid m_grid;
    std::string m_chosen;
    std::optional<std::pair<std::int64_t, std::int64_t>> m_busy;
};

}  // namespace kernelscope::ui
