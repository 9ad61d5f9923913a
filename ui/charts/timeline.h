#pragma once

#include <optional>
#include <vector>

#include "core/records/rows.h"
#include "ui/charts/chart.h"

namespace kernelscope::ui {

/// One pass, track by track: what the host enqueued, when the device passed it, and the kernels back to back. The wheel
/// zooms about the pointer, dragging selects a stretch, a double click shows everything again.
class Timeline : public Chart {
    Q_OBJECT
public:
    explicit Timeline(QWidget* parent = nullptr);

    void setEvents(std::vector<ProfileEventRow> events);
    [[nodiscard]] bool empty() const { return m_tracks.empty(); }
    void setHighlighted(const QString& type, int layer);
    void setView(double beginUs, double endUs);
    [[nodiscard]] double viewBegin() const { return m_begin; }
    [[nodiscard]] double viewEnd() const { return m_end; }
    void clearSelection();
    /// Events that overlap a stretch.
    [[nodiscard]] std::vector<ProfileEventRow> between(double beginUs, double endUs) const;

    void draw(QPainter& painter, const QRectF& area) const override;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void hovered(const QString& type, int layer);
    void selected(double beginUs, double endUs);  ///< equal: none

protected:
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Track {
        QString label;
        std::vector<ProfileEventRow> events;  // outer ones first, then by begin: inner ones are painted over them
    };
    [[nodiscard]] QRectF plot(const QRectF& area) const;
    [[nodiscard]] QRectF lane(const QRectF& plot, int track) const;
    [[nodiscard]] double toX(const QRectF& plot, double us) const;
    [[nodiscard]] double toUs(const QRectF& plot, double x) const;
    void drawTrack(QPainter& painter, const QRectF& plot, int track) const;
    void drawAxis(QPainter& painter, const QRectF& plot) const;
    [[nodiscard]] const ProfileEventRow* eventAt(const QPointF& position) const;
    void zoom(double factor, double aboutUs);

    std::vector<Track> m_tracks;
    double m_length = 0, m_begin = 0, m_end = 0;
    std::optional<double> m_pressed;
    double m_selectBegin = 0, m_selectEnd = 0;
    QString m_highlightedType;
    int m_highlightedLayer = -1;
};

}  // namespace kernelscope::ui
