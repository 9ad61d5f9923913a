#pragma once

#include "ui/charts/chart.h"
#include "ui/models/profile_summary.h"

namespace kernelscope::ui {

/// Layers x module types; the stronger the colour, the longer. Each type is scaled by its own longest layer, so that a short type shows
/// its pattern too.
class LayerHeatMap : public Chart {
    Q_OBJECT
public:
    explicit LayerHeatMap(QWidget* parent = nullptr);

    void setMap(LayerMap map);
    void setGpu(bool gpu);  ///< GPU time instead of span
    [[nodiscard]] const LayerMap& map() const { return m_map; }
    /// An empty type is every one.
    void setHighlighted(const QString& type, int layer);
    void setChosen(const QString& type, int layer);

    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    [[nodiscard]] QRectF cellRect(int type, int layer) const;

signals:
    void hovered(const QString& type, int layer);  ///< empty and -1: none; an empty type alone: the layer as a whole
    void clicked(const QString& type, int layer);

protected:
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Layout { QRectF plot; double cellWidth, cellHeight, gapX, gapY; };
    struct Cell { int type = -1, layer = -1; };
    [[nodiscard]] Layout layout(const QRectF& area) const;
    [[nodiscard]] Cell cellAt(const QPointF& position) const;
    [[nodiscard]] double value(int type, int layer) const;
    [[nodiscard]] double longest(int type) const;
    void point(Cell cell);

    [[nodiscard]] QString typeName(int type) const;  ///< as it is told: empty for the layer as a whole
    [[nodiscard]] QString label(int type) const;
    void showClock();

    LayerMap m_all, m_map;  // as it was given; what the clock has times of
    bool m_gpu = false;
    QString m_highlightedType, m_chosenType;
    int m_highlightedLayer = -1, m_chosenLayer = -1;
};

}  // namespace kernelscope::ui
