#pragma once

#include <optional>
#include <vector>

#include "ui/charts/chart.h"

namespace kernelscope::ui {

struct ValueBar {
    QString label;
    double value = 0;
    std::optional<double> low, high;
    bool accent = false;  ///< the one the page is about
    bool operator==(const ValueBar&) const = default;
};

/// A few figures of one kind as bars from zero.
class ValueBars : public Chart {
    Q_OBJECT
public:
    ValueBars(const QString& name, int decimals, QWidget* parent = nullptr);
    void setBars(std::vector<ValueBar> bars);
    [[nodiscard]] const std::vector<ValueBar>& bars() const { return m_bars; }
    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    int m_decimals;
    std::vector<ValueBar> m_bars;
};

/// A total taken apart: whole bars and the steps between them.
struct WaterfallStep {
    QString label;
    double from = 0, to = 0;  ///< per cent of the first total
    bool whole = false;       ///< a bar from zero
    QColor color;             ///< invalid: grey
    QString value;
};

class Waterfall : public Chart {
    Q_OBJECT
public:
    explicit Waterfall(QWidget* parent = nullptr);
    void setSteps(std::vector<WaterfallStep> steps);
    [[nodiscard]] const std::vector<WaterfallStep>& steps() const { return m_steps; }
    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

private:
    std::vector<WaterfallStep> m_steps;
};

}  // namespace kernelscope::ui
