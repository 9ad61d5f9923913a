#include "ui/charts/share_bars.h"

#include <algorithm>
#include <cmath>

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

struct ShareBars::Layout {
    QRectF plot;     // where bars grow
    double pitch;    // distance from bar to bar
    double wide, thin, gap;
    double scaleMax; // per cent at the right border
    double step;     // between grid lines
    bool hasGpu;
};

ShareBars::ShareBars(QWidget* parent) : Chart("Share of a pass by module type", parent) {}

void ShareBars::setBars(std::vector<ShareBar> bars) {
    if (bars == m_bars) return;
    m_bars = std::move(bars);
    QStringList parts;
    for (const ShareBar& bar : m_bars) {
        if (bar.share) parts << QString("%1 %2 %").arg(bar.name, number(*bar.share, 1));
    }
    setSentence(parts.isEmpty() ? QString() : "Share of the pass: " + parts.join(", ") + ".");
    updateGeometry();
    update();
}

void ShareBars::setHighlighted(const QString& name) {
    if (m_highlighted == name) return;
    m_highlighted = name;
    update();
}

void ShareBars::setChosen(const QString& name) {
    m_chosen = name;
    update();
}

QSize ShareBars::sizeHint() const { return {fontMetrics().height() * 34, int(fontMetrics().height() * 17)}; }
QSize ShareBars::minimumSizeHint() const {
    // A line of text a bar, and the axis.
    const double line = fontMetrics().height();
    return {int(line * 20), int(line * std::max(9.0, 1.05 * double(m_bars.size()) + 1.7))};
}

ShareBars::Layout ShareBars::layout(const QRectF& area) const {
    const QFontMetricsF metrics(font());
    double labels = 0, longest = 0;
    bool hasGpu = false;
    for (const ShareBar& bar : m_bars) {
        labels = std::max(labels, metrics.horizontalAdvance(bar.name));
        hasGpu |= bar.gpuShare.has_value();
        longest = std::max({longest, bar.high.value_or(0), bar.share.value_or(0), bar.gpuShare.value_or(0)});
    }
    Layout result;
    result.hasGpu = hasGpu;
    const double count = std::max<double>(1, double(m_bars.size()));
    const bool oneLine = hasGpu && (area.height() - metrics.height() * 1.6) / count < metrics.height() * 1.75;
    const double values = tabularWidth(metrics, oneLine ? "100.0 %  100.0" : "100.0 %") + metrics.height() * 0.8;
    const double left = area.left() + labels + metrics.height() * 0.8;
    result.plot = QRectF(left, area.top() + 2, std::max(20.0, area.right() - left - values),
                         std::max(20.0, area.height() - metrics.height() * 1.6));
    // The longest bar reaches the last grid line at most; the value stands right of it.
    result.step = longest > 60 ? 20 : longest > 24 ? 10 : longest > 10 ? 5 : 2;
    result.scaleMax = std::clamp(std::ceil(longest / result.step) * result.step, result.step, 100.0);
    result.pitch = std::min(result.plot.height() / count, metrics.height() * 2.9);
    const double filled = result.pitch * 0.78;
    result.gap = hasGpu ? std::max(1.0, filled * 0.06) : 0;
    result.wide = hasGpu ? filled * 0.58 : std::min(filled, metrics.height() * 1.25);
    result.thin = hasGpu ? filled * 0.30 : 0;
    return result;
}

void ShareBars::draw(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::of(this);
    const QFontMetricsF metrics(font());
    const Layout at = layout(area);
    const auto x = [&](double percent) { return at.plot.left() + at.plot.width() * percent / at.scaleMax; };
    const double bottom = at.plot.top() + at.pitch * double(m_bars.size());
    // Low bars have room for one line of text: the GPU's share then stands behind the other one.
    const bool oneLine = at.pitch < metrics.height() * 1.75;

    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.setFont(small);
    for (double percent = 0; percent <= at.scaleMax + 1e-9; percent += at.step) {
        painter.setPen(QPen(percent == 0 ? theme.border : theme.grid, 1));
        const double line = std::round(x(percent)) + 0.5;
        painter.drawLine(QPointF(line, at.plot.top()), QPointF(line, bottom + 3));
        painter.setPen(theme.muted);
        drawTabular(painter, QRectF(line - 60, bottom + 4, 120, metrics.height()), Qt::AlignHCenter | Qt::AlignTop,
                    number(percent, 0) + " %");
    }

    double y = at.plot.top();
    for (const ShareBar& bar : m_bars) {
        const double top = y + (at.pitch - at.wide - at.gap - at.thin) / 2;
        const bool dimmed = !m_chosen.isEmpty() && m_chosen != bar.name;
        const QColor full = bar.unattributed ? unattributedColor(theme) : typeColor(bar.name);
        const QColor color = dimmed ? blend(full, theme.surface, 0.35) : full;
        if (m_highlighted == bar.name) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme.hover);
            painter.drawRoundedRect(QRectF(area.left(), y, area.width(), at.pitch), 4, 4);
        }
        painter.setFont(font());
        painter.setPen(dimmed ? theme.muted : theme.text);
        const double middleOfText = oneLine ? y + at.pitch / 2 : top + at.wide / 2;
        const auto textLine = [&](double left, double width) { return QRectF(left, middleOfText - metrics.height() / 2, width, metrics.height()); };
        painter.drawText(textLine(area.left(), at.plot.left() - area.left() - metrics.height() * 0.6), Qt::AlignRight | Qt::AlignVCenter, bar.name);
        const double share = bar.share.value_or(0);
        const QRectF wide(at.plot.left(), top, std::max(0.0, x(share) - at.plot.left()), at.wide);
        painter.setPen(dimmed ? QPen(Qt::NoPen) : edgePen(color, theme.surface));
        const double radius = std::min(3.0, wide.width() / 2);
        painter.setBrush(color);
        painter.drawRoundedRect(wide, radius, radius);
        if (bar.unattributed) {
            painter.setBrush(QBrush(blend(theme.surface, full, 0.45), Qt::BDiagPattern));
            painter.drawRoundedRect(wide, radius, radius);
        }
        painter.setPen(Qt::NoPen);
        if (bar.gpuShare) {
            const QRectF thin(at.plot.left(), top + at.wide + at.gap, x(*bar.gpuShare) - at.plot.left(), at.thin);
            const QColor pale = blend(color, theme.surface, theme.dark ? 0.5 : 0.45);
            painter.setBrush(pale);
            if (!dimmed) painter.setPen(edgePen(pale, theme.surface));
            painter.drawRoundedRect(thin, std::min(2.0, thin.width() / 2), std::min(2.0, thin.width() / 2));
            painter.setFont(small);
            painter.setPen(theme.muted);
            if (!oneLine)
                drawTabular(painter, QRectF(thin.right() + metrics.height() * 0.4, thin.center().y() - metrics.height() / 2, 100, metrics.height()), Qt::AlignLeft, number(*bar.gpuShare, 1));
        }
        double valueLeft = wide.right();
        if (bar.low && bar.high && *bar.high > *bar.low) {
            const double middle = wide.center().y(), cap = at.wide * 0.22;
            painter.setPen(QPen(theme.text, 1.3));
            painter.drawLine(QPointF(x(*bar.low), middle), QPointF(x(*bar.high), middle));
            for (const double end : {x(*bar.low), x(*bar.high)}) {
                painter.drawLine(QPointF(end, middle - cap), QPointF(end, middle + cap));
            }
            valueLeft = std::max(valueLeft, x(*bar.high));
        }
        if (bar.share) {
            painter.setFont(font());
            painter.setPen(dimmed ? theme.muted : theme.text);
            const QString value = number(share, 1) + " %";
            const double left = (oneLine && bar.gpuShare ? std::max(valueLeft, x(*bar.gpuShare)) : valueLeft) + metrics.height() * 0.45;
            drawTabular(painter, textLine(left, 120), Qt::AlignLeft, value);
            if (oneLine && bar.gpuShare) {
                painter.setFont(small);
                painter.setPen(theme.muted);
                drawTabular(painter, textLine(left + tabularWidth(metrics, value) + metrics.height() * 0.5, 100), Qt::AlignLeft, number(*bar.gpuShare, 1));
            }
        }
        y += at.pitch;
    }
}

int ShareBars::barAt(const QPointF& position) const {
    const Layout at = layout(rect());
    const int index = int(std::floor((position.y() - at.plot.top()) / at.pitch));
    return index >= 0 && index < int(m_bars.size()) ? index : -1;
}

void ShareBars::highlight(const QString& name) {
    if (m_highlighted == name) return;
    setHighlighted(name);
    emit hovered(name);
}

void ShareBars::mouseMoveEvent(QMouseEvent* event) {
    const int index = barAt(event->position());
    highlight(index < 0 ? QString() : m_bars[std::size_t(index)].name);
}

void ShareBars::leaveEvent(QEvent*) { highlight({}); }

void ShareBars::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const int index = barAt(event->position());
    if (index >= 0) emit clicked(m_bars[std::size_t(index)].name);
}

void ShareBars::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step != 0 && !m_bars.empty()) {
        const auto found = std::find_if(m_bars.begin(), m_bars.end(),
                                        [&](const ShareBar& bar) { return bar.name == m_highlighted; });
        const int at = found == m_bars.end() ? (step > 0 ? -1 : int(m_bars.size())) : int(found - m_bars.begin());
        highlight(m_bars[std::size_t(std::clamp(at + step, 0, int(m_bars.size()) - 1))].name);
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Space) && !m_highlighted.isEmpty()) {
        emit clicked(m_highlighted);
    } else {
        Chart::keyPressEvent(event);
    }
}

bool ShareBars::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int index = barAt(help->pos());
        if (index >= 0) QToolTip::showText(help->globalPos(), m_bars[std::size_t(index)].detail, this);
        else QToolTip::hideText();
        return true;
    }
    return Chart::event(event);
}

}  // namespace kernelscope::ui
