#pragma once

#include "ui/charts/chart.h"
#include "ui/models/kernel_evidence.h"

namespace kernelscope::ui {

/// Where in a result its errors are: a map of rows x columns, the worst element in words, and how many elements have how much,
/// beside native.
class ErrorChart : public Chart {
    Q_OBJECT
public:
    explicit ErrorChart(QWidget* parent = nullptr);
    void setView(ErrorView view);
    [[nodiscard]] const ErrorView& view() const { return m_view; }
    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;

private:
    [[nodiscard]] QRectF mapRect(const QRectF& area) const;
    void drawMap(QPainter& painter, const QRectF& at) const;
    void drawClasses(QPainter& painter, const QRectF& at) const;

    ErrorView m_view;
};

}  // namespace kernelscope::ui
