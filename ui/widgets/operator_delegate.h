#pragma once

#include <QStyledItemDelegate>

namespace kernelscope::ui {

/// An operator in the list: its name, its best speed-up at the right, its status below with an icon.
class OperatorDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace kernelscope::ui
