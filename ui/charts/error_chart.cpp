#include "ui/charts/error_chart.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

// Up to here errors are what rounding makes; the scale reaches at least so far that they do not look like a catastrophe.
constexpr double kLeastScaleUlp = 2;

QColor shade(const Theme& theme, double strength) {
    return theme.dark ? blend(QColor("#4aa3d8"), theme.surface, 0.06 + 0.8 * strength) : blend(QColor("#2c6f9e"), theme.surface, 0.05 + 0.9 * strength);
}

}  // namespace

ErrorChart::ErrorChart(QWidget* parent) : Chart("Where the errors are", parent) {}

void ErrorChart::setView(ErrorView view) {
    m_view = std::move(view);
    setSentence(m_view.empty() ? QString("No errors recorded") : QString("%1: largest error %2 units in the last place, %3").arg(m_view.cell, figure(m_view.most), m_view.worst));
    update();
}

QSize ErrorChart::sizeHint() const { return {fontMetrics().height() * 26, fontMetrics().height() * 18}; }
QSize ErrorChart::minimumSizeHint() const { return {fontMetrics().height() * 16, fontMetrics().height() * 12}; }

QRectF ErrorChart::mapRect(const QRectF& whole) const {
    const QRectF area = inset(whole, 3);
    const double line = fontMetrics().height();
    const double left = fontMetrics().horizontalAdvance("00000") + line * 0.5;
    const double top = line * 3.4;  // the words
    return {area.left() + left, area.top() + top, area.width() - left, std::max(line * 2, (area.height() - top) * 0.56 - line * 1.4)};
}

void ErrorChart::draw(QPainter& painter, const QRectF& whole) const {
    const Theme& theme = Theme::of(this);
    const QRectF area = inset(whole, 3);
    const double line = fontMetrics().height();
    if (m_view.empty()) {
        painter.setPen(theme.muted);
        painter.drawText(area, Qt::AlignCenter | Qt::TextWordWrap, "This run keeps no map of errors for what is in view.\nValidate or sweep again to see where they are.");
        return;
    }
    painter.setPen(theme.text);
    painter.drawText(QRectF(area.left(), area.top(), area.width(), line), Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(m_view.cell, Qt::ElideRight, int(area.width())));
    painter.setPen(theme.muted);
    const bool disagrees = std::any_of(m_view.ulp.begin(), m_view.ulp.end(), [](double ulp) { return std::isinf(ulp); });
    const QString worst = (disagrees ? QString("NaN or infinity on one side alone, ") : QString("Worst error %1 ULP, ").arg(figure(m_view.most))) + m_view.worst;
    painter.drawText(QRectF(area.left(), area.top() + line * 1.1, area.width(), line * 2.1), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, worst);
    const QRectF map = mapRect(whole);
    drawMap(painter, map);
    drawClasses(painter, QRectF(area.left(), map.bottom() + line * 1.5, area.width(), area.bottom() - map.bottom() - line * 1.5));
}

void ErrorChart::drawMap(QPainter& painter, const QRectF& at) const {
    const Theme& theme = Theme::of(this);
    const double line = fontMetrics().height();
    const double scale = std::max(kLeastScaleUlp, m_view.most);
    const double width = at.width() / m_view.columnBins, height = at.height() / m_view.rowBins;
    painter.setPen(Qt::NoPen);
    for (int row = 0; row < m_view.rowBins; ++row) {
        for (int column = 0; column < m_view.columnBins; ++column) {
            const double ulp = m_view.ulp[std::size_t(row * m_view.columnBins + column)];
            painter.setBrush(std::isinf(ulp) ? theme.bad : shade(theme, std::clamp(ulp / scale, 0.0, 1.0)));
            // To the next bin's edge, so that no seams show.
            const double left = std::floor(at.left() + column * width), top = std::floor(at.top() + row * height);
            painter.drawRect(QRectF(left, top, std::floor(at.left() + (column + 1) * width) - left, std::floor(at.top() + (row + 1) * height) - top));
        }
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.border, 1));
    painter.drawRect(at);
    if (m_view.rows > 0 && m_view.columns > 0) {
        const int row = int(m_view.worstRow * m_view.rowBins / m_view.rows), column = int(m_view.worstColumn * m_view.columnBins / m_view.columns);
        painter.setPen(QPen(theme.text, 2));
        painter.drawRect(QRectF(at.left() + column * width, at.top() + row * height, width, height).adjusted(-1, -1, 1, 1));
    }
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.setFont(small);
    painter.setPen(theme.muted);
    const QRectF side(at.left() - line * 5, at.top(), line * 4.6, at.height());
    drawTabular(painter, QRectF(side.left(), side.top(), side.width(), line), Qt::AlignRight, "0");
    if (m_view.rowBins > 1) drawTabular(painter, QRectF(side.left(), side.bottom() - line, side.width(), line), Qt::AlignRight, QString::number(m_view.rows - 1));
    if (at.height() > line * 3.5) painter.drawText(side, Qt::AlignRight | Qt::AlignVCenter, "rows");
    const QRectF below(at.left(), at.bottom() + line * 0.15, at.width(), line);
    const QString last = QString::number(m_view.columns - 1);
    drawTabular(painter, below, Qt::AlignLeft, "0");
    drawTabular(painter, below, Qt::AlignRight, last);
    const QFontMetricsF metrics(small);
    const double room = below.width() - 2 * (metrics.horizontalAdvance(last) + line / 2);
    for (const QString& words : {QString("columns, the stronger the larger, full at %1 ULP").arg(figure(scale)), QString("columns, full at %1 ULP").arg(figure(scale)), QString("columns")}) {
        if (metrics.horizontalAdvance(words) > room) continue;
        painter.drawText(below, Qt::AlignCenter, words);
        break;
    }
    painter.setFont(font());
}

void ErrorChart::drawClasses(QPainter& painter, const QRectF& at) const {
    const Theme& theme = Theme::of(this);
    const double line = fontMetrics().height();
    const QStringList labels = errorClassLabels();
    if (at.height() < line * 3.5 || m_view.share.size() != std::size_t(labels.size()) || m_view.nativeShare.size() != m_view.share.size()) return;
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    const QFontMetricsF metrics(small);
    painter.setFont(small);
    const QColor own = shade(theme, 0.85), native = blend(theme.muted, theme.surface, 0.55);
    double x = at.left();
    const auto legend = [&](const QColor& color, const QString& text) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawRect(QRectF(x, at.top() + line * 0.25, line * 0.6, line * 0.6));
        painter.setPen(theme.muted);
        painter.drawText(QRectF(x + line * 0.85, at.top(), at.width(), line), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += line * 0.85 + metrics.horizontalAdvance(text) + line;
    };
    legend(own, "this variant");
    legend(native, "native");
    painter.drawText(QRectF(x, at.top(), at.right() - x, line), Qt::AlignRight | Qt::AlignVCenter, "% of elements by error in ULP");
    const QRectF plot(at.left(), at.top() + line * 2.2, at.width(), at.height() - line * 3.4);
    const double width = plot.width() / double(labels.size());
    // A thousandth of a per cent is still seen: heights go with the logarithm.
    constexpr double kLeastPct = 1e-3;
    const auto heightOf = [&](double pct) { return pct <= 0 ? 0.0 : plot.height() * std::clamp((std::log10(pct / kLeastPct) + 0.3) / 5.3, 0.03, 1.0); };
    for (int i = 0; i < labels.size(); ++i) {
        const double left = plot.left() + i * width;
        const auto bar = [&](double pct, const QColor& color, double from) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            const double height = heightOf(pct);
            painter.drawRect(QRectF(left + from * width, plot.bottom() - height, width * 0.36, height));
        };
        bar(m_view.share[std::size_t(i)], own, 0.12);
        bar(m_view.nativeShare[std::size_t(i)], native, 0.5);
        painter.setPen(theme.text);
        if (m_view.share[std::size_t(i)] > 0) {
            drawTabular(painter, QRectF(left, plot.bottom() - std::max(heightOf(m_view.share[std::size_t(i)]), heightOf(m_view.nativeShare[std::size_t(i)])) - line * 1.05, width, line),
                        Qt::AlignHCenter, figure(m_view.share[std::size_t(i)]));
        }
        painter.setPen(theme.muted);
        painter.drawText(QRectF(left, plot.bottom() + line * 0.1, width, line), Qt::AlignHCenter | Qt::AlignTop, labels[i]);
    }
    painter.setPen(QPen(theme.border, 1));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
    painter.setFont(font());
}

bool ErrorChart::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || m_view.empty()) return Chart::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QRectF map = mapRect(rect());
    const int column = int((help->pos().x() - map.left()) / map.width() * m_view.columnBins), row = int((help->pos().y() - map.top()) / map.height() * m_view.rowBins);
    if (!map.contains(help->pos()) || row >= m_view.rowBins || column >= m_view.columnBins) {
        QToolTip::hideText();
        return true;
    }
    const auto range = [](int bin, int bins, std::int64_t count) {
        const std::int64_t from = (bin * count + bins - 1) / bins, to = ((bin + 1) * count + bins - 1) / bins - 1;
        return to > from ? QString("%1 to %2").arg(from).arg(to) : QString::number(from);
    };
    QToolTip::showText(help->globalPos(), QString("Rows %1, columns %2: at most %3 ULP").arg(range(row, m_view.rowBins, m_view.rows), range(column, m_view.columnBins, m_view.columns),
        figure(m_view.ulp[std::size_t(row * m_view.columnBins + column)])), this);
    return true;
}

}  // namespace kernelscope::ui
