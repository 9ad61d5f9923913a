#include "ui/charts/sparse_ticks.h"

#include <cmath>

namespace kernelscope::ui {

void SparseTicks::setRoom(double pixels, const QFont& font) {
    m_pixels = pixels;
    m_font = font;
}

void SparseTicks::generate(const QCPRange& range, const QLocale& locale, QChar formatChar, int precision, QVector<double>& ticks, QVector<double>* subTicks, QVector<QString>* tickLabels) {
    QCPAxisTickerText::generate(range, locale, formatChar, precision, ticks, subTicks, tickLabels);
    if (!tickLabels || m_pixels <= 0 || !(range.lower > 0) || !(range.upper > range.lower)) return;
    const QFontMetricsF metrics(m_font);
    const double gap = metrics.horizontalAdvance(' ') * 1.5;
    const auto half = [&](qsizetype i) { return metrics.horizontalAdvance((*tickLabels)[i]) / 2; };
    const auto place = [&](qsizetype i) { return m_pixels * std::log(ticks[i] / range.lower) / std::log(range.upper / range.lower); };
    const qsizetype last = std::min(ticks.size(), tickLabels->size()) - 1;
    double taken = -1e9;  // up to there texts stand
    for (qsizetype i = 0; i <= last; ++i) {
        const bool beforeLast = i == last || place(i) + half(i) + gap <= place(last) - half(last);
        if (ticks[i] > 0 && place(i) - half(i) >= taken && beforeLast) taken = place(i) + half(i) + gap;
        else (*tickLabels)[i].clear();
    }
}

}  // namespace kernelscope::ui
