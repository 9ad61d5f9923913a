#include "ui/charts/plot.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QPicture>

#include "ui/charts/custom_plot.h"
#include "ui/charts/sparse_ticks.h"
#include "ui/theme.h"

namespace kernelscope::ui {

Plot::Plot(const QString& name, QWidget* parent) : Chart(name, parent), m_plot(std::make_unique<QCustomPlot>()) {
    m_plot->setAttribute(Qt::WA_DontShowOnScreen);
    m_plot->setBackground(Qt::NoBrush);
    m_plot->setNoAntialiasingOnDrag(false);
}

Plot::~Plot() = default;

QSize Plot::sizeHint() const { return {fontMetrics().height() * 26, fontMetrics().height() * 18}; }
QSize Plot::minimumSizeHint() const { return {fontMetrics().height() * 16, fontMetrics().height() * 9}; }

int digitsFor(double range) {
    constexpr double kTicks = 5, kNarrowest = 0.7;  // the plot's own rounding of a step goes down to about that part of it
    if (!(range > 0)) return 1;
    return std::clamp(-int(std::floor(std::log10(range / kTicks * kNarrowest))), 1, 6);
}

void Plot::applyColors() const {
    const Theme& theme = Theme::of(this);
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QPen(theme.border, 1));
        axis->setTickPen(QPen(theme.border, 1));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(theme.muted);
        axis->setTickLabelFont(small);
        axis->setLabelColor(theme.muted);
        axis->setLabelFont(small);
        axis->grid()->setPen(QPen(theme.grid, 1));
        axis->grid()->setZeroLinePen(QPen(theme.grid, 1));
    }
}

void Plot::draw(QPainter& painter, const QRectF& area) const {
    applyColors();
    const QSize size = area.size().toSize();
    // About what the other axis' figures leave: the plot itself knows its room only after it has made the texts.
    if (const auto ticks = m_plot->xAxis->ticker().dynamicCast<SparseTicks>()) {
        const QFont small = m_plot->xAxis->tickLabelFont();
        ticks->setRoom(size.width() - QFontMetricsF(small).horizontalAdvance("0") * 9, small);
    }
    QPicture picture;
    {
        QCPPainter plotPainter(&picture);
        m_plot->toPainter(&plotPainter, size.width(), size.height());
    }
    painter.drawPicture(area.topLeft(), picture);
}

}  // namespace kernelscope::ui
