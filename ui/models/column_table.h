#pragma once
// A flat item model is a vector of rows and a table of columns; the model contract is kept here once.

#include <functional>
#include <utility>
#include <vector>

#include <QAbstractTableModel>
#include <QColor>
#include <QString>

#include "ui/models/roles.h"

namespace kernelscope::ui {

template <typename Row>
struct ColumnSpec {
    QString title;
    QString toolTip;                                  ///< of the header
    bool numeric = false;
    std::function<QVariant(const Row&)> raw;          ///< for sorting and copying; invalid: not known
    std::function<QString(const Row&)> text;     ///< as shown; absent: the raw value
    std::function<Tone(const Row&)> tone;
    std::function<QString(const Row&)> icon;
    std::function<QColor(const Row&)> swatch;
    std::function<QString(const Row&)> hint;     ///< tool tip of the cell
};

template <typename Row>
class ColumnTable : public QAbstractTableModel {
public:
    explicit ColumnTable(std::vector<ColumnSpec<Row>> columns, QObject* parent = nullptr)
        : QAbstractTableModel(parent), m_columns(std::move(columns)) {}

    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }

    void reset(std::vector<Row> rows) {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
    }

    /// One range signal for all of them.
    void append(std::vector<Row> rows) {
        if (rows.empty()) return;
        const int first = int(m_rows.size());
        beginInsertRows({}, first, first + int(rows.size()) - 1);
        m_rows.insert(m_rows.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
        endInsertRows();
    }

    void replace(int at, Row row) {
        m_rows[std::size_t(at)] = std::move(row);
        emit dataChanged(index(at, 0), index(at, columnCount() - 1));
    }

    int rowCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : int(m_rows.size()); }
    int columnCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : int(m_columns.size()); }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const final {
        if (orientation != Qt::Horizontal || section < 0 || section >= int(m_columns.size())) return {};
        const auto& column = m_columns[std::size_t(section)];
        switch (role) {
        case Qt::DisplayRole: return column.title;
        case Qt::ToolTipRole: return column.toolTip.isEmpty() ? QVariant() : column.toolTip;
        case Qt::TextAlignmentRole: return int(Qt::AlignVCenter | (column.numeric ? Qt::AlignRight : Qt::AlignLeft));
        default: return {};
        }
    }

    QVariant data(const QModelIndex& index, int role) const final {
        if (!index.isValid() || index.row() >= int(m_rows.size())) return {};
        const auto& column = m_columns[std::size_t(index.column())];
        const Row& row = m_rows[std::size_t(index.row())];
        switch (role) {
        case Qt::DisplayRole: return column.text ? QVariant(column.text(row)) : QVariant(column.raw(row).toString());
        case Qt::ToolTipRole: return column.hint ? QVariant(column.hint(row)) : QVariant();
        case Qt::TextAlignmentRole: return int(Qt::AlignVCenter | (column.numeric ? Qt::AlignRight : Qt::AlignLeft));
        case kRawRole: return column.raw(row);
        case kNumericRole: return column.numeric;
        case kToneRole: return column.tone ? int(column.tone(row)) : int(Tone::normal);
        case kIconRole: return column.icon ? QVariant(column.icon(row)) : QVariant();
        case kSwatchRole: return column.swatch ? QVariant(column.swatch(row)) : QVariant();
        default: return {};
        }
    }

private:
    std::vector<ColumnSpec<Row>> m_columns;
    std::vector<Row> m_rows;
};

}  // namespace kernelscope::ui
