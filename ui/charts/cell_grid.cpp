#include "ui/charts/cell_grid.h"

#include <algorithm>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/icons.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

QString rowsLabel(std::int64_t rows) { return rows >= 1024 && rows % 1024 == 0 ? QString("%1k").arg(rows / 1024) : QString::number(qlonglong(rows)); }

}  // namespace

CellGrid::CellGrid(const QString& name, QWidget* parent) : Chart(name, parent) {}

void CellGrid::setGrid(Grid grid) {
    m_grid = std::move(grid);
    int measured = 0;
    for (const GridCell& cell : m_grid.cells) measured += !cell.key.empty();
    setSentence(QString("%1 of %2 cells measured").arg(measured).arg(m_grid.cells.size()));
    update();
}

void CellGrid::setChosen(const std::string& key) {
    m_chosen = key;
    update();
}

void CellGrid::setBusy(std::optional<std::pair<std::int64_t, std::int64_t>> shape) {
    if (m_busy == shape) return;
    m_busy = shape;
    update();
}

QSize CellGrid::sizeHint() const { return {fontMetrics().height() * 24, fontMetrics().height() * 16}; }
QSize CellGrid::minimumSizeHint() const { return {fontMetrics().height() * 14, fontMetrics().height() * 8}; }

QRectF CellGrid::cellRect(const QRectF& whole, int hidden, int rows) const {
    const QRectF area = inset(whole, 3);
    const double line = fontMetrics().height();
    const double left = area.left() + fontMetrics().horizontalAdvance("00000") + line * 0.5;
    const double width = std::min((area.right() - left) / std::max<double>(1, double(m_grid.rows.size())), line * 5);
    const double height = std::min((area.height() - line * 2.4) / std::max<double>(1, double(m_grid.hidden.size())), line * 3.6);
    const double gap = std::clamp(width * 0.06, 1.0, 3.0);
    return {left + rows * width, area.top() + hidden * height, width - gap, height - gap};
}

void CellGrid::draw(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::of(this);
    const double line = fontMetrics().height();
    QFont small = font();
    small.setPointSizeF(font().pointSizeF() * 0.9);
    painter.setFont(small);
    const QFontMetricsF metrics(small);
    for (int h = 0; h < int(m_grid.hidden.size()); ++h) {
        const QRectF first = cellRect(area, h, 0);
        painter.setPen(theme.text);
        drawTabular(painter, QRectF(area.left(), first.top(), first.left() - area.left() - line * 0.4, first.height()), Qt::AlignRight,
                    QString::number(qlonglong(m_grid.hidden[std::size_t(h)])));
        for (int r = 0; r < int(m_grid.rows.size()); ++r) {
            const GridCell& cell = m_grid.at(h, r);
            const QRectF at = cellRect(area, h, r);
            QColor ground = theme.dark ? blend(theme.text, theme.surface, 0.06) : blend(theme.text, theme.surface, 0.05);
            if (cell.value) {
                const double strength = std::clamp((*cell.value - m_grid.least) / std::max(1e-9, m_grid.most - m_grid.least), 0.0, 1.0);
                ground = theme.dark ? blend(QColor("#4aa3d8"), theme.surface, 0.22 + 0.6 * strength) : blend(QColor("#2c6f9e"), theme.surface, 0.25 + 0.7 * strength);
            } else if (!cell.key.empty()) {
                const QColor tone = cell.tone == Tone::good ? theme.good : cell.tone == Tone::bad ? theme.bad : cell.tone == Tone::warn ? theme.warn : theme.muted;
                ground = blend(tone, theme.surface, 0.18);
            }
            painter.setPen(Qt::NoPen);
            painter.setBrush(ground);
            painter.drawRoundedRect(at, 2, 2);
            const QColor ink = readableOn(ground);
            const bool fits = !cell.text.isEmpty() && tabularWidth(metrics, cell.text) < at.width() - 2 && metrics.height() < at.height();
            QRectF textAt = at;
            if (!cell.icon.isEmpty()) {
                const int size = int(std::min({line * 0.95, at.width() - 2, at.height() - 2}));
                const bool both = fits && at.width() > tabularWidth(metrics, cell.text) + size + 8;
                const double x = both ? at.left() + 3 : at.center().x() - size / 2.0;
                if (size > 5 && (both || cell.text.isEmpty() || !fits)) {
                    painter.drawPixmap(QPointF(x, at.center().y() - size / 2.0), iconPixmap(cell.icon, ink, size, painter.device()->devicePixelRatioF()));
                }
                if (both) textAt.setLeft(at.left() + size);
            }
            if (fits) {
                painter.setPen(ink);
                drawTabular(painter, textAt, Qt::AlignHCenter, cell.text);
            }
            const bool busy = m_busy && m_busy->first == m_grid.hidden[std::size_t(h)] && m_busy->second == m_grid.rows[std::size_t(r)];
            const bool chosen = !cell.key.empty() && cell.key == m_chosen;
            if (busy && cell.key.empty()) {
                painter.setPen(theme.muted);
                painter.drawText(at, Qt::AlignCenter, "…");
            }
            if (busy || chosen) {
                painter.setBrush(Qt::NoBrush);
                painter.setPen(QPen(chosen ? theme.text : theme.accent, 2));
                painter.drawRoundedRect(at.adjusted(1, 1, -1, -1), 2, 2);
            }
        }
    }
    if (m_grid.hidden.empty()) return;
    painter.setPen(theme.muted);
    const QRectF last = cellRect(area, int(m_grid.hidden.size()) - 1, 0);
    for (int r = 0; r < int(m_grid.rows.size()); ++r) {
        const QRectF at = cellRect(area, 0, r);
        drawTabular(painter, QRectF(at.center().x() - 40, last.bottom() + 3, 80, line), Qt::AlignHCenter | Qt::AlignTop, rowsLabel(m_grid.rows[std::size_t(r)]));
    }
    const QRectF end = cellRect(area, 0, int(m_grid.rows.size()) - 1);
    painter.drawText(QRectF(last.left(), last.bottom() + line * 1.1, end.right() - last.left(), line), Qt::AlignHCenter | Qt::AlignTop, "rows");
}

const GridCell* CellGrid::cellAt(const QPointF& position) const {
    for (int h = 0; h < int(m_grid.hidden.size()); ++h) {
        for (int r = 0; r < int(m_grid.rows.size()); ++r) {
            if (cellRect(h, r).contains(position)) return &m_grid.at(h, r);
        }
    }
    return nullptr;
}

void CellGrid::mousePressEvent(QMouseEvent* event) {
    const GridCell* cell = cellAt(event->position());
    if (event->button() == Qt::LeftButton && cell && !cell->key.empty()) emit clicked(toQt(cell->key));
}

void CellGrid::keyPressEvent(QKeyEvent* event) {
    const int rows = int(m_grid.rows.size());
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : event->key() == Qt::Key_Down ? rows : event->key() == Qt::Key_Up ? -rows : 0;
    if (step == 0 || m_grid.cells.empty()) {
        Chart::keyPressEvent(event);
        return;
    }
    const auto found = std::find_if(m_grid.cells.begin(), m_grid.cells.end(), [&](const GridCell& cell) { return !m_chosen.empty() && cell.key == m_chosen; });
    const int at = found == m_grid.cells.end() ? -step : int(found - m_grid.cells.begin());
    const int next = std::clamp(at + step, 0, int(m_grid.cells.size()) - 1);
    if (!m_grid.cells[std::size_t(next)].key.empty()) emit clicked(toQt(m_grid.cells[std::size_t(next)].key));
}

bool CellGrid::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return Chart::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const GridCell* cell = cellAt(help->pos());
    if (cell && !cell->detail.isEmpty()) QToolTip::showText(help->globalPos(), cell->detail, this);
    else QToolTip::hideText();
    return true;
}

}  // namespace kernelscope::ui
