#pragma once

#include "ui/charts/plot.h"
#include "ui/models/kernel_evidence.h"

namespace kernelscope::ui {

/// Operations a second against operations a byte, both by powers of ten, under what copies and matrix products reach.
class RooflinePlot : public Plot {
    Q_OBJECT
public:
    explicit RooflinePlot(QWidget* parent = nullptr);
    void setView(RooflineView view);
    [[nodiscard]] const RooflineView& view() const { return m_view; }
    void draw(QPainter& painter, const QRectF& area) const override;

signals:
    void clicked(const QString& key);

protected:
    void applyColors() const override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] const RooflinePoint* pointAt(const QPointF& position) const;
    RooflineView m_view;
};

}  // namespace kernelscope::ui
