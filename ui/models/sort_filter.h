#pragma once

#include <QSortFilterProxyModel>

namespace kernelscope::ui {

/// Sorts by the raw value, unknown ones last in both directions, pinned rows at the bottom; filters by words: a row is
/// kept when each word is found in one of its cells.
class SortFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit SortFilter(QObject* parent = nullptr);
    void setWords(const QString& text);

protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

}  // namespace kernelscope::ui
