#pragma once
// The rows of a run that is too large to be held: a page is read when the table shows it, and only the newest pages stay.

#include <functional>
#include <list>
#include <map>
#include <set>
#include <vector>

#include <QAbstractTableModel>

#include "core/records/run.h"

namespace kernelscope::ui {

class PagedRows : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int kPage = 500;      ///< rows that are read at once: a few screens
    static constexpr int kMostPages = 40;  ///< that stay

    /// Asks for rows [offset, offset + count) and hands them over later, in the window's thread.
    using Read = std::function<void(std::int64_t offset, std::int64_t count, std::function<void(const std::vector<RowRecord>&)> done)>;
    explicit PagedRows(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void reset(const RowType& type, std::int64_t rows, Read read);
    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : m_rows; }
    int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : int(m_columns.size()); }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] int pagesHeld() const { return int(m_pages.size()); }

private:
    void ask(int page) const;
    void arrived(int generation, int page, std::vector<RowRecord> rows);

    std::vector<Column> m_columns;
    int m_rows = 0, m_generation = 0;
    Read m_read;
    mutable std::map<int, std::vector<RowRecord>> m_pages;
    mutable std::list<int> m_order;  ///< of pages, the one used last in front
    mutable std::set<int> m_asked;
};

}  // namespace kernelscope::ui
