#include "ui/widgets/cell_delegate.h"

#include <QApplication>
#include <QPainter>
#include <QTreeView>

#include "ui/icons.h"
#include "ui/models/roles.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

QColor toneColor(const Theme& theme, int tone) {
    switch (Tone(tone)) {
    case Tone::muted: return theme.muted;
    case Tone::good: return theme.good;
    case Tone::warn: return theme.warn;
    case Tone::bad: return theme.bad;
    case Tone::normal: break;
    }
    return theme.text;
}

/// Paths may break after a slash.
QString breakable(QString text) { return text.replace('/', QString("/") + QChar(0x200b)); }

}  // namespace

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QString text = item.text;
    item.text.clear();
    const QWidget* view = option.widget;
    (view ? view->style() : QApplication::style())->drawControl(QStyle::CE_ItemViewItem, &item, painter, view);

    const Theme& theme = Theme::of(view);
    const double height = item.fontMetrics.height();
    QRectF area = QRectF(item.rect).adjusted(height * 0.35, 0, -height * 0.35, 0);
    painter->save();
    painter->setClipRect(item.rect);
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setFont(item.font);
    const QColor color = toneColor(theme, index.data(kToneRole).toInt());
    const QVariant swatch = index.data(kSwatchRole);
    if (swatch.isValid() && swatch.value<QColor>().isValid()) {
        const double size = height * 0.6;
        painter->setPen(edgePen(swatch.value<QColor>(), theme.surface));
        painter->setBrush(swatch.value<QColor>());
        painter->drawRoundedRect(QRectF(area.left(), area.center().y() - size / 2, size, size), 2, 2);
        area.setLeft(area.left() + height);
    }
    const QString iconName = index.data(kIconRole).toString();
    if (!iconName.isEmpty()) {
        const int size = int(height * 0.9);
        const QPixmap pixmap = iconPixmap(iconName, color, size, painter->device()->devicePixelRatioF());
        painter->drawPixmap(QPointF(area.left(), area.center().y() - size / 2.0), pixmap);
        area.setLeft(area.left() + size + height * 0.35);
    }
    painter->setPen(color);
    if (index.data(kNumericRole).toBool()) {
        drawTabular(*painter, area, Qt::AlignRight, text);
    } else if (m_wrapped.contains(index.column())) {
        painter->drawText(area, int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextWordWrap), breakable(text));
    } else {
        painter->drawText(area, int(Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine),
                          item.fontMetrics.elidedText(text, Qt::ElideRight, int(area.width())));
    }
    painter->restore();
}

QSize CellDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const int height = item.fontMetrics.height();
    const auto* view = qobject_cast<const QTreeView*>(option.widget);
    if (view && m_wrapped.contains(index.column())) {
        const int room = std::max(height * 4, int(view->columnWidth(index.column()) - height * 0.7));
        const QRect text = item.fontMetrics.boundingRect(QRect(0, 0, room, 100'000), int(Qt::AlignLeft | Qt::TextWordWrap), breakable(item.text));
        return {room, int(text.height() + height * 0.5)};
    }
    double width = index.data(kNumericRole).toBool() ? tabularWidth(item.fontMetrics, item.text)
                                                     : item.fontMetrics.horizontalAdvance(item.text);
    if (index.data(kSwatchRole).isValid()) width += height;
    if (!index.data(kIconRole).toString().isEmpty()) width += height * 1.3;
    return {int(width + height * 1.1), int(height * 1.5)};
}

}  // namespace kernelscope::ui
