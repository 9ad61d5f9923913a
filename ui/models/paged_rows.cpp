#include "ui/models/paged_rows.h"

#include <algorithm>
#include <climits>

#include <QPointer>

#include "ui/text.h"

namespace kernelscope::ui {

void PagedRows::reset(const RowType& type, std::int64_t rows, Read read) {
    beginResetModel();
    m_columns.assign(type.columns.begin(), type.columns.end());
    m_rows = int(std::min<std::int64_t>(rows, INT_MAX));
    m_read = std::move(read);
    ++m_generation;
    m_pages.clear();
    m_order.clear();
    m_asked.clear();
    endResetModel();
}

QVariant PagedRows::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows) return {};
    const Column& column = m_columns[std::size_t(index.column())];
    if (role == Qt::TextAlignmentRole) return int(Qt::AlignVCenter | (column.kind == ColumnKind::text ? Qt::AlignLeft : Qt::AlignRight));
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
    const int page = index.row() / kPage;
    const auto found = m_pages.find(page);
    if (found == m_pages.end()) {
        ask(page);
        return {};
    }
    if (m_order.front() != page) m_order.splice(m_order.begin(), m_order, std::find(m_order.begin(), m_order.end(), page));
    const std::size_t row = std::size_t(index.row() % kPage);
    if (row >= found->second.size()) return {};
    return plain(found->second[row].values[std::size_t(index.column())]);
}

QVariant PagedRows::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole) return {};
    if (orientation == Qt::Vertical) return number(section + 1, 0);
    return section < int(m_columns.size()) ? QVariant(toQt(m_columns[std::size_t(section)].name)) : QVariant();
}

void PagedRows::ask(int page) const {
    if (!m_read || !m_asked.insert(page).second) return;
    // The view asks while it paints: what it gets later changes this model, not what it sees now.
    auto* self = const_cast<PagedRows*>(this);
    m_read(std::int64_t(page) * kPage, kPage, [self = QPointer<PagedRows>(self), generation = m_generation, page](const std::vector<RowRecord>& rows) {
        if (self) self->arrived(generation, page, rows);
    });
}

void PagedRows::arrived(int generation, int page, std::vector<RowRecord> rows) {
    if (generation != m_generation) return;  // of a run that is not shown any more
    m_asked.erase(page);
    if (m_pages.emplace(page, std::move(rows)).second) m_order.push_front(page);
    while (m_order.size() > std::size_t(kMostPages)) {
        m_pages.erase(m_order.back());
        m_order.pop_back();
    }
    emit dataChanged(index(page * kPage, 0), index(std::min(m_rows, (page + 1) * kPage) - 1, columnCount() - 1));
}

}  // namespace kernelscope::ui
