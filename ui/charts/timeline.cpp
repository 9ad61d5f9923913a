#include "ui/charts/timeline.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "ui/models/profile_summary.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

constexpr std::pair<const char*, const char*> kTracks[] = {{"cpu", "Host"}, {"span", "Device"}, {"kernel", "Kernels"}};
// A stretch shorter than this cannot be told from a click.
constexpr double kLeastDragPixels = 5;

QString timeText(double us, double step) { return step >= 100 ? number(us / 1000, step >= 1000 ? 0 : 1) + " ms" : number(us, step >= 1 ? 0 : 2) + " µs"; }

double niceStep(double rough) {
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough) return factor * power;
    }
    return 10 * power;
}

}  // namespace

Timeline::Timeline(QWidget* parent) : Chart("Timeline of one pass", parent) { setSentence("When each module of one pass ran."); }

void Timeline::setEvents(std::vector<ProfileEventRow> events) {
    const bool unzoomed = m_begin == 0 && m_end == m_length;
    m_tracks.clear();
    m_length = 0;
    for (const auto& [key, label] : kTracks) {
        Track track{.label = label, .events = {}};
        for (const ProfileEventRow& event : events) {
            if (event.track == key) track.events.push_back(event);
        }
        if (track.events.empty()) continue;
        std::stable_sort(track.events.begin(), track.events.end(), [](const ProfileEventRow& a, const ProfileEventRow& b) {
            return a.depth != b.depth ? a.depth < b.depth : a.beginUs < b.beginUs;
        });
        for (const ProfileEventRow& event : track.events) m_length = std::max(m_length, event.beginUs + event.durationUs);
        m_tracks.push_back(std::move(track));
    }
    // On a CPU the host is the device: one track says it all.
    if (m_tracks.size() == 2 && m_tracks[0].label == kTracks[0].second && m_tracks[1].label == kTracks[1].second) {
        const auto end = [](const Track& track) {
            double last = 0;
            for (const ProfileEventRow& event : track.events) last = std::max(last, event.beginUs + event.durationUs);
            return last;
        };
        if (std::abs(end(m_tracks[0]) - end(m_tracks[1])) < 0.02 * m_length) {
            m_tracks.pop_back();
            m_tracks.front().label = "CPU";
        }
    }
    if (unzoomed || m_end > m_length) {
        m_begin = 0;
        m_end = m_length;
    }
    updateGeometry();
    update();
}

void Timeline::setHighlighted(const QString& type, int layer) {
    if (type == m_highlightedType && layer == m_highlightedLayer) return;
    m_highlightedType = type;
    m_highlightedLayer = layer;
    update();
}

void Timeline::setView(double begin, double end) {
    const double least = std::max(0.05, m_length * 1e-5);
    if (end - begin < least) return;
    const double width = std::min(end - begin, m_length);
    m_begin = std::clamp(begin, 0.0, m_length - width);
    m_end = m_begin + width;
    update();
}

void Timeline::clearSelection() {
    m_selectBegin = m_selectEnd = 0;
    update();
}

std::vector<ProfileEventRow> Timeline::between(double begin, double end) const {
    std::vector<ProfileEventRow> found;
    for (const Track& track : m_tracks) {
        for (const ProfileEventRow& event : track.events) {
            if (event.beginUs < end && event.beginUs + event.durationUs > begin) found.push_back(event);
        }
    }
    return found;
}

QSize Timeline::sizeHint() const { return {fontMetrics().height() * 40, int(fontMetrics().height() * (1.7 + 2.0 * std::max<double>(1, double(m_tracks.size()))))}; }
QSize Timeline::minimumSizeHint() const { return {fontMetrics().height() * 20, sizeHint().height()}; }

QRectF Timeline::plot(const QRectF& area) const {
    const QFontMetricsF metrics(font());
    const double left = area.left() + metrics.horizontalAdvance("Kernels") + metrics.height() * 0.7;
    return {left, area.top() + 1, std::max(20.0, area.right() - left - metrics.height() * 1.5), area.height() - metrics.height() * 1.4};
}

QRectF Timeline::lane(const QRectF& plot, int track) const {
    const double pitch = std::min(plot.height() / std::max<double>(1, double(m_tracks.size())), fontMetrics().height() * 2.6);
    return {plot.left(), plot.top() + track * pitch + pitch * 0.12, plot.width(), pitch * 0.76};
}

double Timeline::toX(const QRectF& plot, double us) const { return plot.left() + (us - m_begin) / std::max(1e-9, m_end - m_begin) * plot.width(); }
double Timeline::toUs(const QRectF& plot, double x) const { return m_begin + (x - plot.left()) / plot.width() * (m_end - m_begin); }

void Timeline::draw(QPainter& painter, const QRectF& area) const {
    if (m_tracks.empty()) return;
    const Theme& theme = Theme::of(this);
    const QRectF inner = plot(area);
    drawAxis(painter, inner);
    for (int track = 0; track < int(m_tracks.size()); ++track) {
        painter.setPen(theme.muted);
        const QRectF at = lane(inner, track);
        painter.drawText(QRectF(area.left(), at.top(), inner.left() - area.left(), at.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         m_tracks[std::size_t(track)].label);
        drawTrack(painter, inner, track);
    }
    if (m_selectEnd > m_selectBegin) {
        const QRectF stretch(QPointF(std::max(inner.left(), toX(inner, m_selectBegin)), inner.top()),
                             QPointF(std::min(inner.right(), toX(inner, m_selectEnd)), inner.bottom()));
        QColor veil = theme.accent;
        veil.setAlphaF(0.16f);
        painter.fillRect(stretch, veil);
        painter.setPen(QPen(theme.accent, 1));
        painter.drawLine(stretch.topLeft(), stretch.bottomLeft());
        painter.drawLine(stretch.topRight(), stretch.bottomRight());
    }
}

void Timeline::drawTrack(QPainter& painter, const QRectF& inner, int track) const {
    const Theme& theme = Theme::of(this);
    const QFontMetricsF metrics(font());
    const QRectF at = lane(inner, track);
    painter.save();
    painter.setClipRect(at.adjusted(0, -1, 0, 1));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(Qt::NoPen);
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.setFont(small);
    std::int64_t depth = -1;
    double painted = -1;  // pixels left of this are taken at this depth: thousands of kernels share a column
    for (const ProfileEventRow& event : m_tracks[std::size_t(track)].events) {
        if (event.depth != depth) {
            depth = event.depth;
            painted = -1;
        }
        if (event.beginUs > m_end || event.beginUs + event.durationUs < m_begin) continue;
        const double x = std::max(at.left(), toX(inner, event.beginUs));
        const double right = std::min(at.right(), std::max(x + 1, toX(inner, event.beginUs + event.durationUs)));
        if (right <= painted + 0.5) continue;
        const QString type = toQt(event.type);
        const bool coloured = !type.isEmpty() && typeColor(type) != typeColor(QString());
        const bool lit = (m_highlightedType.isEmpty() || m_highlightedType == type) && (m_highlightedLayer < 0 || layerOf(event.path) == m_highlightedLayer);
        QColor color = coloured ? typeColor(type) : blend(theme.muted, theme.surface, 0.25);
        if (!lit) color = blend(color, theme.surface, 0.3);
        const bool roomy = right - x > 3;
        const QRectF bar(x, at.top(), right - x - (roomy ? 1 : 0), at.height());
        painter.fillRect(bar, color);
        painted = right;
        if (coloured && bar.width() > metrics.height() * 2.2) {
            const QString text = metrics.elidedText(event.track == "kernel" ? toQt(event.name) : type, Qt::ElideRight, bar.width() - 8);
            if (text.size() > 2) {
                painter.setPen(readableOn(color));
                painter.drawText(bar.adjusted(4, 0, -4, 0), int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine), text);
                painter.setPen(Qt::NoPen);
            }
        }
    }
    painter.restore();
}

void Timeline::drawAxis(QPainter& painter, const QRectF& inner) const {
    const Theme& theme = Theme::of(this);
    const QFontMetricsF metrics(font());
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.save();
    painter.setFont(small);
    const double bottom = lane(inner, int(m_tracks.size()) - 1).bottom() + metrics.height() * 0.3;
    const double step = niceStep((m_end - m_begin) / std::max(2.0, inner.width() / (metrics.height() * 6)));
    for (double us = std::ceil(m_begin / step) * step; us <= m_end; us += step) {
        const double x = std::round(toX(inner, us)) + 0.5;
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(x, inner.top()), QPointF(x, bottom));
        painter.setPen(theme.muted);
        drawTabular(painter, QRectF(x - 60, bottom, 120, metrics.height()), Qt::AlignHCenter | Qt::AlignTop, timeText(us, step));
    }
    painter.restore();
}

const ProfileEventRow* Timeline::eventAt(const QPointF& position) const {
    const QRectF inner = plot(rect());
    const double us = toUs(inner, position.x());
    for (int track = 0; track < int(m_tracks.size()); ++track) {
        const QRectF at = lane(inner, track);
        if (position.y() < at.top() || position.y() > at.bottom()) continue;
        const auto& events = m_tracks[std::size_t(track)].events;
        const auto found = std::find_if(events.rbegin(), events.rend(), [us](const ProfileEventRow& event) {
            return event.beginUs <= us && us <= event.beginUs + event.durationUs;
        });
        if (found != events.rend()) return &*found;
    }
    return nullptr;
}

void Timeline::zoom(double factor, double about) { setView(about - (about - m_begin) * factor, about + (m_end - about) * factor); }

void Timeline::wheelEvent(QWheelEvent* event) {
    if (m_tracks.empty()) return;
    const QRectF inner = plot(rect());
    const QPoint turn = event->angleDelta();
    if (std::abs(turn.x()) > std::abs(turn.y()) || (event->modifiers() & Qt::ShiftModifier)) {
        const double by = (m_end - m_begin) * (turn.x() ? turn.x() : turn.y()) / -1200.0;
        setView(m_begin + by, m_end + by);
    } else {
        zoom(std::pow(1.0015, -turn.y()), toUs(inner, event->position().x()));
    }
    event->accept();
}

void Timeline::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && !m_tracks.empty()) m_pressed = event->position().x();
}

void Timeline::mouseMoveEvent(QMouseEvent* event) {
    if (m_pressed && (event->buttons() & Qt::LeftButton)) {
        const QRectF inner = plot(rect());
        const auto [left, right] = std::minmax({*m_pressed, event->position().x()});  // by value
        m_selectBegin = std::clamp(toUs(inner, left), m_begin, m_end);
        m_selectEnd = std::clamp(toUs(inner, right), m_begin, m_end);
        update();
        return;
    }
    const ProfileEventRow* at = eventAt(event->position());
    const QString type = at ? toQt(at->type) : QString();
    const int layer = at ? layerOf(at->path) : -1;
    if (type == m_highlightedType && layer == m_highlightedLayer) return;
    setHighlighted(type, layer);
    emit hovered(type, layer);
}

void Timeline::mouseReleaseEvent(QMouseEvent* event) {
    if (!m_pressed) return;
    if (std::abs(event->position().x() - *m_pressed) < kLeastDragPixels) m_selectBegin = m_selectEnd = 0;
    m_pressed.reset();
    update();
    emit selected(m_selectBegin, m_selectEnd);
}

void Timeline::mouseDoubleClickEvent(QMouseEvent*) { setView(0, m_length); }

void Timeline::leaveEvent(QEvent*) {
    setHighlighted({}, -1);
    emit hovered({}, -1);
}

void Timeline::keyPressEvent(QKeyEvent* event) {
    const double width = m_end - m_begin, middle = (m_begin + m_end) / 2;
    switch (event->key()) {
    case Qt::Key_Plus: case Qt::Key_Equal: case Qt::Key_Up: zoom(0.7, middle); break;
    case Qt::Key_Minus: case Qt::Key_Down: zoom(1 / 0.7, middle); break;
    case Qt::Key_Left: setView(m_begin - width / 5, m_end - width / 5); break;
    case Qt::Key_Right: setView(m_begin + width / 5, m_end + width / 5); break;
    case Qt::Key_Home: setView(0, m_length); break;
    default: Chart::keyPressEvent(event);
    }
}

bool Timeline::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return Chart::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    if (const ProfileEventRow* at = eventAt(help->pos())) {
        QToolTip::showText(help->globalPos(), QString("<b>%1</b><br>%2%3 µs, from %4 µs").arg(toQt(at->name).toHtmlEscaped(),
            at->name == at->path ? QString() : toQt(at->path).toHtmlEscaped() + "<br>", number(at->durationUs, 2), number(at->beginUs, 1)), this);
    } else {
        QToolTip::hideText();
    }
    return true;
}

}  // namespace kernelscope::ui
