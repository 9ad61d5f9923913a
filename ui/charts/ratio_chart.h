#pragma once

#include <optional>
#include <vector>

#include "ui/charts/chart.h"

namespace kernelscope::ui {

struct RatioBar {
    QString label;
    double ratio = 1;
    std::optional<double> low, high;
    std::string verdict;
};

/// Ratios with their intervals left and right of the line at 1, on a logarithmic scale.
class RatioChart : public Chart {
    Q_OBJECT
public:
    explicit RatioChart(QWidget* parent = nullptr);
    void setBars(std::vector<RatioBar> bars);
    [[nodiscard]] const std::vector<RatioBar>& bars() const { return m_bars; }
    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    std::vector<RatioBar> m_bars;
};

}  // namespace kernelscope::ui
