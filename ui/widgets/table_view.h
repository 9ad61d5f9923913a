#pragma once

#include <QTreeView>

class QLineEdit;

namespace kernelscope::ui {

class SortFilter;

/// A table twin: sortable, with figures of one width, and everything copied as text.
class TableView : public QTreeView {
    Q_OBJECT
public:
    explicit TableView(const QString& name, QWidget* parent = nullptr);

    void setSource(QAbstractItemModel* source);  ///< behind a SortFilter of its own
    [[nodiscard]] SortFilter* filter() const { return m_filter; }
    /// A box that filters this table.
    QLineEdit* makeFilterBox(const QString& hint);

    enum class Format { tsv, markdown };
    [[nodiscard]] QString tableText(Format format) const;  ///< as shown: order, filter, visible columns
    [[nodiscard]] QString rowText(const QModelIndex& row, const QString& separator) const;
    /// The table is at least so high that this many of its rows stand whole.
    void setRowsInSight(int rows);
    /// This column takes the room that the others leave.
    void setStretchColumn(int column);
    /// This column gives up what it does not need before the table scrolls sideways: its texts end in an ellipsis then.
    void setYieldingColumn(int column) { m_yielding = column; }
    void fitColumns();
    /// Texts of these columns break into lines instead of ending in an ellipsis; the columns share the room that the others leave.
    void setWrapped(const QList<int>& columns);
    /// Columns in which no row knows anything are left out; `always` lists those that are not wanted in any case.
    void hideUnknownColumns(const QList<int>& always = {});

signals:
    void exportRequested();

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void makeRoomForStretched();
    void makeRoomForRows();
    void copySelection();
    SortFilter* m_filter;
    int m_stretch = -1, m_stretchLeast = 0;
    int m_yielding = -1, m_yieldingFitted = 0;
    int m_rowsInSight = 0;
};

}  // namespace kernelscope::ui
