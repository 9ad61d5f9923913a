#include "ui/widgets/wrap_layout.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QWidget>

#include "ui/theme.h"

namespace kernelscope::ui {

WrapLayout::WrapLayout(QWidget* parent) : QLayout(parent) {
    setContentsMargins(0, 0, 0, 0);
    setSpacing(space(parent, 1.5));
}

WrapLayout::~WrapLayout() { qDeleteAll(m_items); }

QLabel* WrapLayout::addPair(const QString& caption, QWidget* field) {
    auto* pair = new QWidget(parentWidget());
    pair->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* row = new QHBoxLayout(pair);
    row->setContentsMargins(space(pair, 0.5), 0, 0, 0);
    row->setSpacing(spacing());
    auto* label = new QLabel(caption, pair);
    label->setProperty("role", "muted");
    label->setBuddy(field);
    row->addWidget(label);
    row->addWidget(field);
    addWidget(pair);
    return label;
}

QSize WrapLayout::sizeHint() const {
    QSize size;
    for (const QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        const QSize one = item->sizeHint();
        size = {size.width() + (size.width() > 0 ? spacing() : 0) + one.width(), std::max(size.height(), one.height())};
    }
    return size;
}

QSize WrapLayout::minimumSize() const {
    QSize size;
    for (const QLayoutItem* item : m_items)
        if (!item->isEmpty()) size = size.expandedTo(item->sizeHint().boundedTo(item->maximumSize()));
    return size;
}

void WrapLayout::setGeometry(const QRect& area) {
    QLayout::setGeometry(area);
    arrange(area, true);
}

int WrapLayout::arrange(const QRect& area, bool place) const {
    int y = area.top();
    for (qsizetype begin = 0; begin < m_items.size();) {
        // As many as fit; one at least.
        int taken = 0, height = 0, expanding = 0;
        qsizetype end = begin;
        for (; end < m_items.size(); ++end) {
            const QLayoutItem* item = m_items[end];
            if (item->isEmpty()) continue;
            const QSize size = item->sizeHint();
            const int with = taken + (taken > 0 ? spacing() : 0) + size.width();
            if (taken > 0 && with > area.width()) break;
            taken = with;
            height = std::max(height, size.height());
            expanding += item->expandingDirections().testFlag(Qt::Horizontal);
        }
        int x = area.left(), spare = std::max(0, area.width() - taken);
        for (qsizetype i = begin; place && i < end; ++i) {
            QLayoutItem* item = m_items[i];
            if (item->isEmpty()) continue;
            const QSize size = item->sizeHint();
            int width = size.width();
            if (expanding > 0 && item->expandingDirections().testFlag(Qt::Horizontal)) {
                const int more = std::min(spare / expanding--, std::max(0, item->maximumSize().width() - width));
                width += more;
                spare -= more;
            }
            item->setGeometry(QRect(x, y + (height - size.height()) / 2, std::min(width, area.width()), size.height()));
            x += width + spacing();
        }
        y += height + (end < m_items.size() && height > 0 ? spacing() : 0);
        begin = end;
    }
    return y - area.top();
}

}  // namespace kernelscope::ui
