#pragma once

#include <optional>
#include <vector>

#include "ui/charts/chart.h"

namespace kernelscope::ui {

struct ShareBar {
    QString name;
    std::optional<double> share;         ///< per cent of the wall clock: the wide bar
    std::optional<double> low, high;     ///< its 95 % interval
    std::optional<double> gpuShare;      ///< per cent of the GPU's time: the thin bar
    QString detail;                      ///< tool tip
    bool unattributed = false;

    bool operator==(const ShareBar&) const = default;
};

/// One bar a module type: share of the wall clock with its interval, share of GPU time as a thin bar under it.
class ShareBars : public Chart {
    Q_OBJECT
public:
    explicit ShareBars(QWidget* parent = nullptr);

    void setBars(std::vector<ShareBar> bars);
    [[nodiscard]] const std::vector<ShareBar>& bars() const { return m_bars; }
    void setHighlighted(const QString& name);  ///< from outside: no signal
    void setChosen(const QString& name);       ///< the one that filters; empty: none

    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void hovered(const QString& name);  ///< empty: none
    void clicked(const QString& name);

protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Layout;
    [[nodiscard]] Layout layout(const QRectF& area) const;
    [[nodiscard]] int barAt(const QPointF& position) const;
    void highlight(const QString& name);

    std::vector<ShareBar> m_bars;
    QString m_highlighted, m_chosen;
};

}  // namespace kernelscope::ui
