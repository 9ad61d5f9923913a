#include "ui/charts/value_bars.h"

#include <algorithm>

#include <QPainter>
#include <QRegularExpression>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

ValueBars::ValueBars(const QString& name, int decimals, QWidget* parent) : Chart(name, parent), m_decimals(decimals) {}

void ValueBars::setBars(std::vector<ValueBar> bars) {
    if (bars == m_bars) return;
    m_bars = std::move(bars);
    QStringList parts;
    for (const ValueBar& bar : m_bars) parts << bar.label + " " + number(bar.value, m_decimals);
    setSentence(parts.join(", "));
    updateGeometry();
    update();
}

QSize ValueBars::sizeHint() const { return {fontMetrics().height() * 14, int(fontMetrics().height() * 1.9 * std::max<double>(2, double(m_bars.size())))}; }
QSize ValueBars::minimumSizeHint() const { return {fontMetrics().height() * 9, int(fontMetrics().height() * 1.5 * std::max<double>(2, double(m_bars.size())))}; }

void ValueBars::draw(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::of(this);
    const QFontMetricsF metrics(font());
    const double line = metrics.height();
    double labels = 0, most = 0, texts = 0;
    for (const ValueBar& bar : m_bars) {
        labels = std::max(labels, metrics.horizontalAdvance(bar.label));
        texts = std::max(texts, tabularWidth(metrics, number(bar.value, m_decimals)));
        most = std::max({most, bar.value, bar.high.value_or(0)});
    }
    const double left = area.left() + labels + line * 0.6, width = area.right() - left - texts - line;
    const double pitch = std::min(area.height() / std::max<double>(1, double(m_bars.size())), line * 2.2);
    const auto x = [&](double value) { return left + (most > 0 ? value / most : 0) * width; };
    double y = area.top();
    for (const ValueBar& bar : m_bars) {
        const QRectF at(left, y + pitch * 0.2, std::max(1.0, x(bar.value) - left), pitch * 0.6);
        painter.setPen(theme.text);
        painter.drawText(QRectF(area.left(), y, labels, pitch), Qt::AlignRight | Qt::AlignVCenter, bar.label);
        painter.setPen(Qt::NoPen);
        painter.setBrush(bar.accent ? theme.accent : unattributedColor(theme));
        painter.drawRoundedRect(at, 2, 2);
        double end = at.right();
        if (bar.low && bar.high && *bar.high > *bar.low) {
            painter.setPen(QPen(theme.text, 1.3));
            painter.drawLine(QPointF(x(*bar.low), at.center().y()), QPointF(x(*bar.high), at.center().y()));
            for (const double edge : {*bar.low, *bar.high}) painter.drawLine(QPointF(x(edge), at.center().y() - 3), QPointF(x(edge), at.center().y() + 3));
            end = std::max(end, x(*bar.high));
        }
        painter.setPen(theme.text);
        drawTabular(painter, QRectF(end + line * 0.4, y, texts + line, pitch), Qt::AlignLeft, number(bar.value, m_decimals));
        y += pitch;
    }
}

Waterfall::Waterfall(QWidget* parent) : Chart("Where the gain comes from", parent) {}

void Waterfall::setSteps(std::vector<WaterfallStep> steps) {
    m_steps = std::move(steps);
    QStringList parts;
    for (const WaterfallStep& step : m_steps) parts << step.label + " " + step.value;
    setSentence(parts.join(", "));
    update();
}

QSize Waterfall::sizeHint() const { return {fontMetrics().height() * 32, fontMetrics().height() * 18}; }
QSize Waterfall::minimumSizeHint() const { return {fontMetrics().height() * 20, fontMetrics().height() * 10}; }

void Waterfall::draw(QPainter& painter, const QRectF& area) const {
    if (m_steps.empty()) return;
    const Theme& theme = Theme::of(this);
    const QFontMetricsF full(font());
    const double pitch = std::min(area.width() / double(m_steps.size()), full.height() * 7);
    // Steps may be narrow: then the longest word sets the size of the letters, within what can be read.
    const auto breakable = [](const WaterfallStep& step) { return QString(step.label).replace('_', QString("_") + QChar(0x200b)); };  // an operator's name may break there
    double widest = 1;
    for (const WaterfallStep& step : m_steps) {
        widest = std::max(widest, tabularWidth(full, step.value));
        for (const QString& word : breakable(step).split(QRegularExpression("[ \u200b]"))) widest = std::max(widest, full.horizontalAdvance(word));
    }
    QFont letters = font();
    letters.setPointSizeF(font().pointSizeF() * std::clamp((pitch - 6) / widest, 0.7, 1.0));
    const QFontMetricsF metrics(letters);
    painter.setFont(letters);
    const double line = metrics.height();
    double most = 100, captions = line;
    for (const WaterfallStep& step : m_steps) {
        most = std::max({most, step.from, step.to});
        captions = std::max(captions, metrics.boundingRect(QRectF(0, 0, pitch - 4, area.height()), Qt::AlignHCenter | Qt::TextWordWrap, breakable(step)).height());
    }
    const QRectF plot(area.left(), area.top() + line * 1.2, area.width(), area.height() - line * 1.6 - captions);
    const auto y = [&](double percent) { return plot.bottom() - percent / most * plot.height(); };
    painter.setPen(QPen(theme.border, 1));
    painter.drawLine(QPointF(plot.left(), plot.bottom() + 0.5), QPointF(plot.left() + pitch * double(m_steps.size()), plot.bottom() + 0.5));
    double x = plot.left(), before = -1;
    for (const WaterfallStep& step : m_steps) {
        const double top = y(std::max(step.from, step.to)), bottom = y(std::min(step.from, step.to));
        const QRectF at(x + pitch * 0.16, top, pitch * 0.68, std::max(2.0, bottom - top));
        if (before >= 0) {
            painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
            painter.drawLine(QPointF(x - pitch * 0.16, before), QPointF(at.left(), before));
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(step.color.isValid() ? step.color : unattributedColor(theme));
        painter.drawRoundedRect(at, 2, 2);
        painter.setPen(theme.text);
        drawTabular(painter, QRectF(x, top - line * 1.15, pitch, line), Qt::AlignHCenter, step.value);
        painter.setPen(theme.muted);
        painter.drawText(QRectF(x + 2, plot.bottom() + line * 0.3, pitch - 4, captions), Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, breakable(step));
        before = y(step.to);
        x += pitch;
    }
}

}  // namespace kernelscope::ui
