#include "ui/widgets/version_strip.h"

#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include "core/records/format.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

constexpr double kTileInLines = 9.5;  ///< width of a tile in line heights

struct Mark {
    const char* sign;
    QColor color;
};

Mark markOf(const KernelVersion& version, const Theme& theme) {
    if (version.state == "right") return {"✓", theme.good};
    if (version.state == "other_order" || version.state == "refused") return {"≈", theme.warn};
    if (version.state == "cancelled") return {"–", theme.muted};
    return {"✕", theme.bad};
}

}  // namespace

QString stateWord(const KernelVersion& version) {
    if (!version.compiled && version.state == "not compiled") return "does not compile";
    if (version.state == "other_order") return "rounds elsewhere";
    return toQt(version.state);
}

VersionStrip::VersionStrip(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName("Versions of the kernel");
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize VersionStrip::sizeHint() const { return {fontMetrics().height() * 20, int(fontMetrics().height() * 3.4)}; }

double VersionStrip::tileWidth() const { return fontMetrics().height() * kTileInLines; }

/// The newest stands at the right as soon as there are more than fit.
QRectF VersionStrip::tile(int index) const {
    const double width = tileWidth(), gap = space(this, 1);
    const double all = double(m_versions.size()) * (width + gap) - gap;
    const double left = std::min(0.0, this->width() - 1 - all) + index * (width + gap);
    return {left + 0.5, 0.5, width - 1, height() - 1.0};
}

int VersionStrip::indexAt(const QPointF& point) const {
    for (int index = int(m_versions.size()) - 1; index >= 0; --index) {
        if (tile(index).contains(point)) return index;
    }
    return -1;
}

void VersionStrip::setVersions(std::vector<KernelVersion> versions) {
    const bool followed = m_chosen < 0 || m_chosen == int(m_versions.size()) - 1;
    m_versions = std::move(versions);
    m_chosen = followed ? int(m_versions.size()) - 1 : std::min(m_chosen, int(m_versions.size()) - 1);
    describe();
    update();
}

void VersionStrip::choose(int index) {
    if (index < 0 || index >= int(m_versions.size()) || index == m_chosen) return;
    m_chosen = index;
    describe();
    update();
    emit versionChosen(index);
}

void VersionStrip::describe() {
    QString text = "No version yet";
    if (m_chosen >= 0) {
        const KernelVersion& version = m_versions[std::size_t(m_chosen)];
        text = QString("Version %1 of %2: %3").arg(version.number).arg(m_versions.size()).arg(toQt(versionWords(version)));
    }
    setAccessibleDescription(text);
}

void VersionStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_versions.empty()) {
        painter.setPen(Theme::of(this).muted);
        painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignLeft, "Each save becomes a version here: compiled, proved, measured.");
        return;
    }
    for (int index = 0; index < int(m_versions.size()); ++index) {
        if (tile(index).right() > 0) drawTile(painter, index);
    }
}

void VersionStrip::drawTile(QPainter& painter, int index) const {
    const Theme& theme = Theme::of(this);
    const KernelVersion& version = m_versions[std::size_t(index)];
    const QRectF area = tile(index);
    const bool chosen = index == m_chosen;
    painter.setPen(QPen(chosen ? theme.accent : theme.border, chosen ? 1.6 : 1));
    painter.setBrush(chosen ? theme.selection : theme.surface);
    painter.drawRoundedRect(area, 5, 5);

    const double line = fontMetrics().height(), margin = space(this, 1.2);
    const QRectF inside = area.adjusted(margin, margin * 0.7, -margin, -margin * 0.7);
    const Mark mark = markOf(version, theme);
    const QRectF top(inside.left(), inside.top(), inside.width(), line);
    painter.setPen(mark.color);
    painter.drawText(top, Qt::AlignLeft | Qt::AlignVCenter, mark.sign);
    painter.setPen(theme.text);
    const QString words = QString("%1  %2").arg(version.number).arg(stateWord(version));
    painter.drawText(top.adjusted(line, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(words, Qt::ElideRight, int(top.width() - line)));
    if (!version.speedup) return;
    const QRectF below(inside.left(), inside.bottom() - line, inside.width(), line);
    QFont bold = painter.font();
    const QFont plainFont = bold;
    bold.setBold(true);
    painter.setFont(bold);
    const QString ratio = toQt(formatRatio(*version.speedup));
    drawTabular(painter, below, Qt::AlignLeft | Qt::AlignVCenter, ratio);
    painter.setFont(plainFont);

    // The cells' speed-ups in their order, on a logarithmic scale around 1.
    std::vector<double> logs;
    for (const auto& [name, cell] : version.cells) {
        if (cell.speedup && *cell.speedup > 0) logs.push_back(std::log(*cell.speedup));
    }
    if (logs.size() < 2) return;
    const QRectF spark(inside.left() + line * 3.4, inside.bottom() - line * 1.15, inside.width() - line * 3.4, line * 1.1);
    const double low = std::min(0.0, *std::min_element(logs.begin(), logs.end())), high = std::max(0.0, *std::max_element(logs.begin(), logs.end()));
    const auto y = [&](double value) { return spark.bottom() - (value - low) / std::max(1e-9, high - low) * spark.height(); };
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(spark.left(), y(0)), QPointF(spark.right(), y(0)));
    QPainterPath path;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        const QPointF point(spark.left() + spark.width() * double(i) / double(logs.size() - 1), y(logs[i]));
        i == 0 ? path.moveTo(point) : path.lineTo(point);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.accent, 1.5));
    painter.drawPath(path);
}

void VersionStrip::mousePressEvent(QMouseEvent* event) { choose(indexAt(event->position())); }

void VersionStrip::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left: choose(m_chosen - 1); break;
        case Qt::Key_Right: choose(m_chosen + 1); break;
        case Qt::Key_Home: choose(0); break;
        case Qt::Key_End: choose(int(m_versions.size()) - 1); break;
        default: QWidget::keyPressEvent(event);
    }
}

bool VersionStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int index = indexAt(help->pos());
    if (index < 0) QToolTip::hideText();
    else QToolTip::showText(help->globalPos(), QString("Version %1: %2").arg(m_versions[std::size_t(index)].number).arg(toQt(versionWords(m_versions[std::size_t(index)]))), this);
    return true;
}

}  // namespace kernelscope::ui
