#include "ui/charts/roofline_plot.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/charts/custom_plot.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

QSharedPointer<QCPAxisTickerText> decades(double least, double most) {
    auto ticks = QSharedPointer<QCPAxisTickerText>::create();
    for (double value = std::pow(10, std::floor(std::log10(least))); value <= most * 1.0001; value *= 10) ticks->addTick(value, value >= 1000 ? number(value, 0) : QString::number(value));
    return ticks;
}

}  // namespace

RooflinePlot::RooflinePlot(QWidget* parent) : Plot("Roofline", parent) {
    auto& axes = plot();
    for (QCPAxis* axis : {axes.xAxis, axes.yAxis}) axis->setScaleType(QCPAxis::stLogarithmic);
    axes.xAxis->setLabel("operations a byte");
    axes.yAxis->setLabel("GFLOP/s");
}

void RooflinePlot::setView(RooflineView view) {
    m_view = std::move(view);
    setSentence(m_view.sentence());
    auto& axes = plot();
    axes.clearPlottables();
    axes.clearItems();
    update();
    if (m_view.empty()) return;
    double left = 0.1, right = 10, low = 1e18, high = 1;
    QVector<double> nativeX, nativeY, ownX, ownY;
    for (const RooflinePoint& point : m_view.points) {
        left = std::min(left, point.intensity / 3);
        right = std::max(right, point.intensity * 3);
        low = std::min(low, point.gflopPerS);
        high = std::max(high, point.gflopPerS);
        (point.inView ? ownX : nativeX) << point.intensity;
        (point.inView ? ownY : nativeY) << point.gflopPerS;
    }
    const double peak = m_view.matmulGflopPerS.value_or(0), ridge = peak / m_view.copyGbPerS;
    if (peak > 0) right = std::max(right, ridge * 4);
    high = std::max({high, peak, peak > 0 ? 0.0 : right * m_view.copyGbPerS});
    // The roof: memory's slope up to the ridge, then arithmetic's line.
    QCPGraph* roof = axes.addGraph();
    if (peak > 0) roof->setData({left, ridge, right}, {left * m_view.copyGbPerS, peak, peak}, true);
    else roof->setData({left, right}, {left * m_view.copyGbPerS, right * m_view.copyGbPerS}, true);
    QCPGraph* native = axes.addGraph();
    native->setData(nativeX, nativeY, true);
    QCPGraph* own = axes.addGraph();
    own->setData(ownX, ownY, true);
    for (QCPGraph* graph : {native, own}) graph->setLineStyle(QCPGraph::lsNone);
    const auto label = [&](double x, double y, const QString& text, Qt::Alignment side) {
        auto* item = new QCPItemText(&axes);
        item->setPositionAlignment(side);
        item->setText(text);
        item->setClipToAxisRect(false);
        item->position->setCoords(x, y);
    };
    if (peak > 0) label(right, peak, QString("matrix product %1 GFLOP/s").arg(figure(peak)), Qt::AlignRight | Qt::AlignBottom);
    label(left * 1.6, left * 1.6 * m_view.copyGbPerS, QString("  copy %1 GB/s").arg(figure(m_view.copyGbPerS)), Qt::AlignLeft | Qt::AlignTop);
    const double bottom = std::min(low, left * m_view.copyGbPerS) / 2;
    axes.xAxis->setRange(left, right);
    axes.yAxis->setRange(bottom, high * 3);
    axes.xAxis->setTicker(decades(left, right));
    axes.yAxis->setTicker(decades(bottom, high * 3));
}

void RooflinePlot::draw(QPainter& painter, const QRectF& area) const {
    if (!m_view.empty()) {
        Plot::draw(painter, area);
        return;
    }
    painter.setPen(Theme::of(this).muted);
    painter.drawText(inset(area, 3), Qt::AlignCenter | Qt::TextWordWrap, "This run keeps no work model and no limits for what is in view.\nSweep again to see them.");
}

void RooflinePlot::applyColors() const {
    Plot::applyColors();
    const Theme& theme = Theme::of(this);
    auto& axes = plot();
    if (axes.graphCount() < 3) return;
    const QColor own = theme.dark ? QColor("#4aa3d8") : QColor("#2c6f9e");
    axes.graph(0)->setPen(QPen(theme.text, 1.6));
    axes.graph(1)->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, QPen(theme.muted, 1.3), Qt::NoBrush, 6));
    axes.graph(2)->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.surface, 0.6), own, 8));
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    for (int i = 0; i < axes.itemCount(); ++i) {
        if (auto* label = qobject_cast<QCPItemText*>(axes.item(i))) {
            label->setFont(small);
            label->setColor(theme.muted);
        }
    }
}

const RooflinePoint* RooflinePlot::pointAt(const QPointF& position) const {
    const RooflinePoint* nearest = nullptr;
    double least = fontMetrics().height();
    for (const RooflinePoint& point : m_view.points) {
        const double x = plot().xAxis->coordToPixel(point.intensity) - position.x(), y = plot().yAxis->coordToPixel(point.gflopPerS) - position.y();
        if (std::hypot(x, y) > least) continue;
        least = std::hypot(x, y);
        nearest = &point;
    }
    return nearest;
}

void RooflinePlot::mousePressEvent(QMouseEvent* event) {
    const RooflinePoint* point = event->button() == Qt::LeftButton ? pointAt(event->position()) : nullptr;
    if (point) emit clicked(toQt(point->key));
}

bool RooflinePlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return Plot::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const RooflinePoint* point = pointAt(help->pos())) QToolTip::showText(help->globalPos(), point->detail, this);
    else QToolTip::hideText();
    return true;
}

}  // namespace kernelscope::ui
