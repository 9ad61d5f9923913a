#include "ui/widgets/operator_delegate.h"

#include <QPainter>

#include "ui/icons.h"
#include "ui/models/roles.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

void OperatorDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const Theme& theme = Theme::of(option.widget);
    const double line = option.fontMetrics.height();
    const QRectF area = QRectF(option.rect).adjusted(0, 1, -2, -1);
    const QRectF inner = area.adjusted(line * 0.5, line * 0.3, -line * 0.5, -line * 0.3);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(option.state & QStyle::State_Selected ? theme.selection : theme.hover);
        painter->drawRoundedRect(area, 5, 5);
    }
    QFont bold = option.font;
    bold.setWeight(QFont::DemiBold);
    painter->setFont(bold);
    painter->setPen(theme.text);
    painter->drawText(inner, int(Qt::AlignLeft | Qt::AlignTop), index.data().toString());
    painter->setFont(option.font);
    drawTabular(*painter, QRectF(inner.left(), inner.top(), inner.width(), line), Qt::AlignRight, index.data(kRawRole).toString());
    const Tone tone = Tone(index.data(kToneRole).toInt());
    const QColor color = tone == Tone::good ? theme.good : tone == Tone::bad ? theme.bad : tone == Tone::warn ? theme.warn : theme.muted;
    const int size = int(line * 0.85);
    const QRectF second(inner.left(), inner.top() + line * 1.15, inner.width(), line);
    painter->drawPixmap(QPointF(second.left(), second.center().y() - size / 2.0),
                        iconPixmap(index.data(kIconRole).toString(), color, size, painter->device()->devicePixelRatioF()));
    painter->setPen(color);
    painter->drawText(second.adjusted(size + line * 0.25, 0, 0, 0), int(Qt::AlignLeft | Qt::AlignVCenter), index.data(Qt::UserRole).toString());
    painter->restore();
}

QSize OperatorDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {option.fontMetrics.height() * 8, int(option.fontMetrics.height() * 2.9)};
}

}  // namespace kernelscope::ui
