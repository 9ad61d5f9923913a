#pragma once

#include <vector>

#include "ui/charts/chart.h"

namespace kernelscope::ui {

/// How raw samples are spread: counts in equal steps, the median as a line.
class Histogram : public Chart {
    Q_OBJECT
public:
    explicit Histogram(QWidget* parent = nullptr);
    void setSamples(std::vector<double> microseconds);
    [[nodiscard]] std::size_t count() const { return m_samples.size(); }
    [[nodiscard]] double median() const;
    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    std::vector<double> m_samples;  // sorted
};

}  // namespace kernelscope::ui
