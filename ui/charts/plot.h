#pragma once
// A plot with axes as one of our charts, coloured from the theme. (qcustomplot.h is included by custom_plot.h alone.)

#include <memory>

#include "ui/charts/chart.h"

class QCustomPlot;

namespace kernelscope::ui {

class Plot : public Chart {
    Q_OBJECT
public:
    explicit Plot(const QString& name, QWidget* parent = nullptr);
    ~Plot() override;

    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    /// Never shown itself: it is painted into whatever the chart is painted on.
    [[nodiscard]] QCustomPlot& plot() const { return *m_plot; }
    /// Axes, grid and text in the theme's colours; called before each painting.
    virtual void applyColors() const;

private:
    std::unique_ptr<QCustomPlot> m_plot;
};

/// Digits behind the point, one at least, so that no two ticks of the range read alike.
int digitsFor(double range);

}  // namespace kernelscope::ui
