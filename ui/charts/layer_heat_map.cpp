#include "ui/charts/layer_heat_map.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

LayerHeatMap::LayerHeatMap(QWidget* parent) : Chart("Time by layer and module type", parent) {}

void LayerHeatMap::setMap(LayerMap map) {
    m_all = std::move(map);
    showClock();
}

void LayerHeatMap::setGpu(bool gpu) {
    m_gpu = gpu;
    showClock();
}

void LayerHeatMap::showClock() {
    m_map = withTimesOf(m_all, m_gpu);
    QStringList parts;
    for (int type = 0; type < int(m_map.types.size()); ++type) {
        int most = 0;
        for (int layer = 1; layer < m_map.layers; ++layer) {
            if (value(type, layer) > value(type, most)) most = layer;
        }
        parts << QString("%1 is longest in layer %2").arg(label(type)).arg(most);
    }
    setSentence(parts.join(", "));
    update();
}

QString LayerHeatMap::typeName(int type) const { return type < 0 ? QString() : toQt(m_map.types[std::size_t(type)]); }

QString LayerHeatMap::label(int type) const {
    const QString name = typeName(type);
    return name.isEmpty() ? QString("Layer") : name;
}

void LayerHeatMap::setHighlighted(const QString& type, int layer) {
    if (type == m_highlightedType && layer == m_highlightedLayer) return;
    m_highlightedType = type;
    m_highlightedLayer = layer;
    update();
}

void LayerHeatMap::setChosen(const QString& type, int layer) {
    m_chosenType = type;
    m_chosenLayer = layer;
    update();
}

QSize LayerHeatMap::sizeHint() const { return {fontMetrics().height() * 24, fontMetrics().height() * 15}; }
QSize LayerHeatMap::minimumSizeHint() const { return {fontMetrics().height() * 14, fontMetrics().height() * 8}; }

double LayerHeatMap::value(int type, int layer) const {
    const LayerCell& cell = m_map.cells[std::size_t(layer) * m_map.types.size() + std::size_t(type)];
    return m_gpu ? cell.gpuUs : cell.spanUs;
}

double LayerHeatMap::longest(int type) const {
    double most = 0;
    for (int layer = 0; layer < m_map.layers; ++layer) most = std::max(most, value(type, layer));
    return most;
}

LayerHeatMap::Layout LayerHeatMap::layout(const QRectF& area) const {
    const QFontMetricsF metrics(font());
    double labels = 0;
    for (int type = 0; type < int(m_map.types.size()); ++type) labels = std::max(labels, metrics.horizontalAdvance(label(type)));
    Layout at;
    const double left = area.left() + labels + metrics.height() * 0.6;
    at.plot = QRectF(left, area.top() + 2, area.right() - left - 2, area.height() - metrics.height() * 2.4);
    const double columns = std::max(1, m_map.layers), rows = std::max<double>(1, double(m_map.types.size()));
    at.cellWidth = std::min(at.plot.width() / columns, metrics.height() * 6);
    at.cellHeight = std::min(at.plot.height() / rows, metrics.height() * 3.2);
    at.gapX = at.cellWidth > 8 ? 1.5 : at.cellWidth > 4 ? 1 : 0;
    at.gapY = std::min(8.0, at.cellHeight * 0.16);
    return at;
}

QRectF LayerHeatMap::cellRect(int type, int layer) const {
    const Layout at = layout(rect());
    return {at.plot.left() + layer * at.cellWidth, at.plot.top() + type * at.cellHeight, at.cellWidth - at.gapX, at.cellHeight - at.gapY};
}

void LayerHeatMap::draw(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::of(this);
    const QFontMetricsF metrics(font());
    const Layout at = layout(area);
    for (int type = 0; type < int(m_map.types.size()); ++type) {
        const QString name = typeName(type);
        const double top = at.plot.top() + type * at.cellHeight, height = at.cellHeight - at.gapY;
        const bool dimmedType = !m_chosenType.isEmpty() && m_chosenType != name;
        painter.setPen(dimmedType ? theme.muted : theme.text);
        painter.drawText(QRectF(area.left(), top, at.plot.left() - area.left() - metrics.height() * 0.5, height),
                         Qt::AlignRight | Qt::AlignVCenter, label(type));
        const double most = longest(type);
        for (int layer = 0; layer < m_map.layers; ++layer) {
            const bool dimmed = dimmedType || (m_chosenLayer >= 0 && m_chosenLayer != layer);
            const double strength = most > 0 ? value(type, layer) / most : 0;
            // From a floor that still shows the type's colour; squared, since layers differ by a few per cent.
            const double ink = (0.12 + 0.83 * strength * strength) * (dimmed ? 0.35 : 1);
            painter.setPen(Qt::NoPen);
            painter.setBrush(blend(typeColor(name), theme.surface, ink));
            const QRectF cell(at.plot.left() + layer * at.cellWidth, top, at.cellWidth - at.gapX, height);
            const double radius = at.cellWidth > 8 ? 2 : 0;
            painter.drawRoundedRect(cell, radius, radius);
            const bool typeLit = m_highlightedType.isEmpty() ? m_highlightedLayer >= 0 : m_highlightedType == name;
            if (typeLit && (m_highlightedLayer < 0 || m_highlightedLayer == layer)) {
                painter.setBrush(Qt::NoBrush);
                painter.setPen(QPen(theme.text, m_highlightedLayer == layer ? 1.6 : 0.8));
                painter.drawRoundedRect(cell.adjusted(0.4, 0.4, -0.4, -0.4), radius, radius);
            }
        }
    }
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.setFont(small);
    painter.setPen(theme.muted);
    const double bottom = at.plot.top() + double(m_map.types.size()) * at.cellHeight;
    int every = 1;
    while (every * at.cellWidth < metrics.height() * 1.9) every *= 2;
    for (int layer = 0; layer < m_map.layers; layer += every) {
        drawTabular(painter, QRectF(at.plot.left() + (layer + 0.5) * at.cellWidth - 30, bottom, 60, metrics.height()),
                    Qt::AlignHCenter | Qt::AlignTop, QString::number(layer));
    }
    painter.drawText(QRectF(at.plot.left(), bottom + metrics.height(), m_map.layers * at.cellWidth, metrics.height()),
                     Qt::AlignHCenter | Qt::AlignTop, "decoder layer");
}

LayerHeatMap::Cell LayerHeatMap::cellAt(const QPointF& position) const {
    const Layout at = layout(rect());
    const int layer = int(std::floor((position.x() - at.plot.left()) / at.cellWidth));
    const int type = int(std::floor((position.y() - at.plot.top()) / at.cellHeight));
    if (layer < 0 || layer >= m_map.layers || type < 0 || type >= int(m_map.types.size())) return {};
    return {type, layer};
}

void LayerHeatMap::point(Cell cell) {
    const QString type = typeName(cell.type);
    if (type == m_highlightedType && cell.layer == m_highlightedLayer) return;
    setHighlighted(type, cell.layer);
    emit hovered(type, cell.layer);
}

void LayerHeatMap::mouseMoveEvent(QMouseEvent* event) { point(cellAt(event->position())); }
void LayerHeatMap::leaveEvent(QEvent*) { point({}); }

void LayerHeatMap::mousePressEvent(QMouseEvent* event) {
    const Cell cell = cellAt(event->position());
    if (event->button() == Qt::LeftButton && cell.type >= 0) emit clicked(typeName(cell.type), cell.layer);
}

void LayerHeatMap::keyPressEvent(QKeyEvent* event) {
    const int dx = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const int dy = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    const bool accept = event->key() == Qt::Key_Return || event->key() == Qt::Key_Space;
    if (m_map.types.empty() || (!dx && !dy && !accept)) {
        Chart::keyPressEvent(event);
        return;
    }
    const auto found = std::find(m_map.types.begin(), m_map.types.end(), fromQt(m_highlightedType));
    const int type = found == m_map.types.end() ? 0 : int(found - m_map.types.begin());
    if (accept) emit clicked(typeName(type), std::max(0, m_highlightedLayer));
    else point({std::clamp(type + dy, 0, int(m_map.types.size()) - 1), std::clamp(m_highlightedLayer + dx, 0, m_map.layers - 1)});
}

bool LayerHeatMap::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return Chart::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const Cell cell = cellAt(help->pos());
    if (cell.type < 0) {
        QToolTip::hideText();
        return true;
    }
    QToolTip::showText(help->globalPos(), QString("%1 in layer %2: %3 µs%4").arg(label(cell.type)).arg(cell.layer)
                                              .arg(number(value(cell.type, cell.layer), 1), m_gpu ? " of GPU time" : ""), this);
    return true;
}

}  // namespace kernelscope::ui
