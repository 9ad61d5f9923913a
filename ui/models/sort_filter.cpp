#include "ui/models/sort_filter.h"

#include <cmath>

#include "ui/models/roles.h"

namespace kernelscope::ui {
namespace {

bool known(const QVariant& value) {
    return value.isValid() && !(value.typeId() == QMetaType::Double && std::isnan(value.toDouble()));
}

}  // namespace

SortFilter::SortFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(kRawRole);
    setRecursiveFilteringEnabled(true);
    setDynamicSortFilter(true);
}

void SortFilter::setWords(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool SortFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const bool ascending = sortOrder() == Qt::AscendingOrder;
    const int leftPin = left.siblingAtColumn(0).data(kPinnedRole).toInt();
    const int rightPin = right.siblingAtColumn(0).data(kPinnedRole).toInt();
    if (leftPin != rightPin) return ascending ? leftPin < rightPin : leftPin > rightPin;
    const QVariant a = left.data(kRawRole), b = right.data(kRawRole);
    if (known(a) != known(b)) return ascending ? known(a) : known(b);
    if (!known(a)) return false;
    if (a.typeId() == QMetaType::QString) return a.toString().compare(b.toString(), Qt::CaseInsensitive) < 0;
    return a.toDouble() < b.toDouble();
}

bool SortFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    for (const QString& word : m_words) {
        bool found = false;
        for (int column = 0; column < sourceModel()->columnCount(parent) && !found; ++column) {
            found = sourceModel()->index(row, column, parent).data().toString().contains(word, Qt::CaseInsensitive);
        }
        if (!found) return false;
    }
    return true;
}

}  // namespace kernelscope::ui
