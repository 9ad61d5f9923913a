#pragma once

#include <QFontMetricsF>

#include "ui/charts/custom_plot.h"

namespace kernelscope::ui {

/// Ticks with texts on a logarithmic axis. Where their texts would write over each other in the room there is, some stay without one: the first of those
/// that collide keeps its own, the last tick always does.
class SparseTicks : public QCPAxisTickerText {
public:
    void setRoom(double pixels, const QFont& font);
    void generate(const QCPRange& range, const QLocale& locale, QChar formatChar, int precision, QVector<double>& ticks, QVector<double>* subTicks, QVector<QString>* tickLabels) override;

private:
    double m_pixels = 0;
    QFont m_font;
};

}  // namespace kernelscope::ui
