#include "ui/charts/ratio_chart.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "core/records/format.h"
#include "ui/icons.h"
#include "ui/models/kernel_summary.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

QColor toneColor(const Theme& theme, Tone tone) {
    return tone == Tone::good ? theme.good : tone == Tone::bad ? theme.bad : tone == Tone::warn ? theme.warn : theme.muted;
}

}  // namespace

RatioChart::RatioChart(QWidget* parent) : Chart("Ratios of the baseline to the candidate", parent) {}

void RatioChart::setBars(std::vector<RatioBar> bars) {
    m_bars = std::move(bars);
    QStringList parts;
    for (const RatioBar& bar : m_bars) parts << QString("%1: %2, %3").arg(bar.label, toQt(formatRatio(bar.ratio)), verdictLook(bar.verdict).text);
    setSentence(parts.join("; "));
    updateGeometry();
    update();
}

QSize RatioChart::sizeHint() const { return {fontMetrics().height() * 40, int(fontMetrics().height() * (2 + 1.7 * double(m_bars.size())))}; }
QSize RatioChart::minimumSizeHint() const { return {fontMetrics().height() * 20, int(fontMetrics().height() * (2 + 1.4 * std::min<double>(8, double(m_bars.size()))))}; }

void RatioChart::draw(QPainter& painter, const QRectF& whole) const {
    if (m_bars.empty()) return;
    const QRectF area = inset(whole, 4);
    const Theme& theme = Theme::of(this);
    const QFontMetricsF metrics(font());
    const double line = metrics.height();
    double labels = 0, reach = std::log(1.02);
    for (const RatioBar& bar : m_bars) {
        labels = std::max(labels, metrics.horizontalAdvance(bar.label));
        // A wide interval is cut at the border, so that the ratios themselves can be told apart.
        const double own = bar.ratio > 0 ? std::abs(std::log(bar.ratio)) : 0;
        reach = std::max(reach, own);
        for (const double value : {bar.low.value_or(bar.ratio), bar.high.value_or(bar.ratio)}) {
            if (value > 0 && std::isfinite(value)) reach = std::max(reach, std::min(std::abs(std::log(value)), own * 1.5 + 0.05));
        }
    }
    labels = std::min(labels, area.width() * 0.4);
    const double right = tabularWidth(metrics, "00.00x") + line * 1.6;
    const QRectF plot(area.left() + labels + line * 0.7, area.top(), area.width() - labels - line * 0.7 - right, area.height() - line * 1.5);
    const double pitch = std::min(plot.height() / double(m_bars.size()), line * 2);
    const double bottom = plot.top() + pitch * double(m_bars.size());
    const auto x = [&](double ratio) { return plot.center().x() + std::clamp(std::log(ratio) / (reach * 1.1), -1.0, 1.0) * plot.width() / 2; };

    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.setFont(small);
    const double most = std::exp(reach);
    const double step = most > 8 ? 4 : most > 3 ? 2 : most > 1.6 ? 1.5 : most > 1.25 ? 1.2 : most > 1.1 ? 1.1 : 1.02;
    for (const double tick : {1 / step, 1.0, step}) {
        painter.setPen(QPen(tick == 1 ? theme.muted : theme.grid, tick == 1 ? 1.4 : 1));
        painter.drawLine(QPointF(x(tick), plot.top()), QPointF(x(tick), bottom + 3));
        painter.setPen(theme.muted);
        drawTabular(painter, QRectF(x(tick) - 50, bottom + 4, 100, line), Qt::AlignHCenter | Qt::AlignTop, tick == 1 ? "the same" : number(tick, 2) + "x");
    }
    painter.drawText(QRectF(plot.left(), bottom + 4, plot.width() / 2, line), Qt::AlignLeft | Qt::AlignTop, "slower");
    painter.drawText(QRectF(plot.center().x(), bottom + 4, plot.width() / 2, line), Qt::AlignRight | Qt::AlignTop, "faster");

    painter.setFont(font());
    double y = plot.top();
    for (const RatioBar& bar : m_bars) {
        const StatusLook look = verdictLook(bar.verdict);
        const QColor color = toneColor(theme, look.tone);
        const double middle = y + pitch / 2;
        painter.setPen(theme.text);
        painter.drawText(QRectF(area.left(), y, labels, pitch), Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(bar.label, Qt::ElideMiddle, labels));
        if (bar.low && bar.high && *bar.low > 0) {
            painter.setPen(QPen(color, 1.4));
            painter.drawLine(QPointF(x(*bar.low), middle), QPointF(x(*bar.high), middle));
            for (const double end : {*bar.low, *bar.high}) painter.drawLine(QPointF(x(end), middle - line * 0.22), QPointF(x(end), middle + line * 0.22));
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        if (bar.ratio > 0) painter.drawEllipse(QPointF(x(bar.ratio), middle), line * 0.24, line * 0.24);
        const int size = int(line * 0.9);
        const QRectF value(plot.right() + line * 0.5, y, right - line * 0.5, pitch);
        if (!look.icon.isEmpty()) painter.drawPixmap(QPointF(value.left(), middle - size / 2.0), iconPixmap(look.icon, color, size, painter.device()->devicePixelRatioF()));
        painter.setPen(theme.text);
        drawTabular(painter, value, Qt::AlignRight, toQt(formatRatio(bar.ratio)));
        y += pitch;
    }
}

}  // namespace kernelscope::ui
