#include "ui/charts/histogram.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

Histogram::Histogram(QWidget* parent) : Chart("Histogram of the samples", parent) {}

void Histogram::setSamples(std::vector<double> microseconds) {
    std::erase_if(microseconds, [](double value) { return !std::isfinite(value); });
    m_samples = std::move(microseconds);
    std::sort(m_samples.begin(), m_samples.end());
    setSentence(m_samples.empty() ? QString("No samples were kept") : QString("%1 samples from %2 to %3 µs, median %4 µs")
        .arg(m_samples.size()).arg(number(m_samples.front(), 2), number(m_samples.back(), 2), number(median(), 2)));
    update();
}

double Histogram::median() const {
    if (m_samples.empty()) return 0;
    const std::size_t half = m_samples.size() / 2;
    return m_samples.size() % 2 ? m_samples[half] : (m_samples[half - 1] + m_samples[half]) / 2;
}

QSize Histogram::sizeHint() const { return {fontMetrics().height() * 18, fontMetrics().height() * 7}; }
QSize Histogram::minimumSizeHint() const { return {fontMetrics().height() * 12, fontMetrics().height() * 4}; }

void Histogram::draw(QPainter& painter, const QRectF& whole) const {
    const Theme& theme = Theme::of(this);
    const QRectF area = inset(whole, 3);
    const double line = fontMetrics().height();
    painter.setPen(theme.muted);
    if (m_samples.empty()) {
        painter.drawText(area, Qt::AlignCenter, "No samples were kept");
        return;
    }
    // A few stragglers would leave everything else in one bar: the last hundredth is gathered at the right border.
    const double least = m_samples.front(), most = std::max(m_samples[std::size_t(double(m_samples.size() - 1) * 0.99)], least + 1e-9);
    const int bins = std::clamp(int(std::sqrt(double(m_samples.size()))) * 2, 6, 40);
    std::vector<int> counts(std::size_t(bins), 0);
    for (const double value : m_samples) ++counts[std::size_t(std::clamp(int((value - least) / (most - least) * bins), 0, bins - 1))];
    const int tallest = *std::max_element(counts.begin(), counts.end());
    const QRectF plot(area.left(), area.top() + line, area.width(), area.height() - line * 2.2);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.dark ? blend(QColor("#4aa3d8"), theme.surface, 0.7) : blend(QColor("#2c6f9e"), theme.surface, 0.8));
    const double width = plot.width() / bins;
    for (int bin = 0; bin < bins; ++bin) {
        const double height = plot.height() * counts[std::size_t(bin)] / tallest;
        painter.drawRect(QRectF(plot.left() + bin * width, plot.bottom() - height, std::max(1.0, width - 1), height));
    }
    const double x = plot.left() + std::clamp((median() - least) / (most - least), 0.0, 1.0) * plot.width();
    painter.setPen(QPen(theme.text, 1.4));
    painter.drawLine(QPointF(x, plot.top() - 2), QPointF(x, plot.bottom()));
    drawTabular(painter, QRectF(std::clamp(x - 60, area.left(), area.right() - 120), area.top(), 120, line), Qt::AlignHCenter, number(median(), 2) + " µs");
    painter.setPen(theme.muted);
    const QRectF axis(plot.left(), plot.bottom() + line * 0.1, plot.width(), line);
    drawTabular(painter, axis, Qt::AlignLeft, number(least, 2));
    drawTabular(painter, axis, Qt::AlignRight, number(most, 2) + " µs");
}

}  // namespace kernelscope::ui
