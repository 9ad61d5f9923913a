#pragma once

#include <QStyledItemDelegate>

namespace kernelscope::ui {

/// Paints what our models answer: tabular figures at the right, a swatch or an icon before the text, tones.
class CellDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    /// Texts of these columns break into lines at the column's width.
    void setWrapped(const QList<int>& columns) { m_wrapped = columns; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    QList<int> m_wrapped;
};

}  // namespace kernelscope::ui
