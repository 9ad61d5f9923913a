#include "ui/widgets/table_view.h"

#include <algorithm>
#include <functional>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>

#include "ui/icons.h"
#include "ui/models/roles.h"
#include "ui/models/sort_filter.h"
#include "ui/theme.h"
#include "ui/widgets/cell_delegate.h"

namespace kernelscope::ui {
namespace {

// A copied number is the raw value, since a spreadsheet cannot read thin spaces and units.
QString cellText(const QModelIndex& index) {
    const QVariant raw = index.data(kRawRole);
    if (raw.typeId() == QMetaType::Double) return QString::number(raw.toDouble(), 'g', QLocale::FloatingPointShortest);
    QString text = index.data().toString();
    return text.replace('\t', ' ').replace('\n', ' ');
}

}  // namespace

TableView::TableView(const QString& name, QWidget* parent) : QTreeView(parent), m_filter(new SortFilter(this)) {
    setAccessibleName(name);
    setItemDelegate(new CellDelegate(this));
    setSortingEnabled(true);
    setUniformRowHeights(true);
    setRootIsDecorated(false);
    setAllColumnsShowFocus(true);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setFrameShape(QFrame::NoFrame);
    header()->setStretchLastSection(false);
    header()->setHighlightSections(false);
    header()->setSectionsMovable(true);
    header()->setMinimumSectionSize(fontMetrics().height() * 3);
}

void TableView::setSource(QAbstractItemModel* source) {
    m_filter->setSourceModel(source);
    setModel(m_filter);
    header()->setSortIndicator(-1, Qt::DescendingOrder);
}

void TableView::setRowsInSight(int rows) {
    m_rowsInSight = rows;
    for (const auto& changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) connect(m_filter, changed, this, &TableView::makeRoomForRows);
    connect(m_filter, &QAbstractItemModel::modelReset, this, &TableView::makeRoomForRows);
    makeRoomForRows();
}

void TableView::makeRoomForRows() {
    const QModelIndex first = m_filter->index(0, 0);
    const int row = first.isValid() ? indexRowSizeHint(first) : fontMetrics().height() * 3 / 2;
    setMinimumHeight(header()->sizeHint().height() + std::clamp(m_filter->rowCount(), 1, m_rowsInSight) * row + horizontalScrollBar()->sizeHint().height() + 2 * frameWidth());
}

QLineEdit* TableView::makeFilterBox(const QString& hint) {
    auto* box = new QLineEdit(this);
    box->setPlaceholderText(hint);
    box->setAccessibleName(hint);
    box->setClearButtonEnabled(true);
    box->setMinimumWidth(fontMetrics().height() * 11);
    box->addAction(icon("search", Theme::of(this).muted, fontMetrics().height()), QLineEdit::LeadingPosition);
    connect(box, &QLineEdit::textChanged, m_filter, &SortFilter::setWords);
    return box;
}

void TableView::setStretchColumn(int column) {
    m_stretch = column;
    header()->setSectionResizeMode(column, QHeaderView::Stretch);
}

void TableView::fitColumns() {
    // Never so wide that one long text pushes the others out; what is left over is air between the columns.
    const int line = fontMetrics().height();
    int taken = 0, columns = 0;
    for (int column = 0; column < header()->count(); ++column) {
        if (isColumnHidden(column)) continue;
        if (header()->sectionResizeMode(column) == QHeaderView::Stretch || column == m_stretch) {
            taken += std::max(sizeHintForColumn(column), line * 8);
            if (column == m_stretch) m_stretchLeast = std::clamp(std::max(sizeHintForColumn(column), header()->sectionSizeHint(column)), line * 4, line * 10);
            continue;
        }
        header()->resizeSection(column, std::min(std::max(sizeHintForColumn(column), header()->sectionSizeHint(column)), line * 18));
        taken += header()->sectionSize(column);
        ++columns;
    }
    const int air = columns == 0 ? 0 : std::clamp((viewport()->width() - taken) / columns, 0, line);
    for (int column = 0; column < header()->count(); ++column) {
        if (!isColumnHidden(column) && column != m_stretch && header()->sectionResizeMode(column) != QHeaderView::Stretch)
            header()->resizeSection(column, header()->sectionSize(column) + air);
    }
    m_yieldingFitted = m_yielding < 0 || isColumnHidden(m_yielding) ? 0 : header()->sectionSize(m_yielding);
    makeRoomForStretched();
}

/// What the others leave may be too little to read: then the column keeps what it needs, and the table scrolls.
void TableView::makeRoomForStretched() {
    if (m_stretch < 0 || m_stretchLeast == 0 || isColumnHidden(m_stretch)) return;
    int others = 0;
    for (int column = 0; column < header()->count(); ++column) {
        if (column != m_stretch && !isColumnHidden(column)) others += header()->sectionSize(column);
    }
    if (m_yieldingFitted > 0) {
        const int now = header()->sectionSize(m_yielding), room = viewport()->width() - m_stretchLeast - (others - now);
        const int width = std::clamp(room, std::min(m_yieldingFitted, header()->sectionSizeHint(m_yielding)), m_yieldingFitted);
        header()->resizeSection(m_yielding, width);
        others += width - now;
    }
    const bool stretches = viewport()->width() - others >= m_stretchLeast;
    header()->setSectionResizeMode(m_stretch, stretches ? QHeaderView::Stretch : QHeaderView::Interactive);
    if (!stretches) header()->resizeSection(m_stretch, m_stretchLeast);
}

void TableView::resizeEvent(QResizeEvent* event) {
    QTreeView::resizeEvent(event);
    makeRoomForStretched();
}

void TableView::setWrapped(const QList<int>& columns) {
    setUniformRowHeights(false);
    static_cast<CellDelegate*>(itemDelegate())->setWrapped(columns);
    for (const int column : columns) header()->setSectionResizeMode(column, QHeaderView::Stretch);
    // Rows are as high as the widths make them.
    connect(header(), &QHeaderView::sectionResized, this, [this] { scheduleDelayedItemsLayout(); });
}

void TableView::hideUnknownColumns(const QList<int>& always) {
    const QAbstractItemModel* source = m_filter->sourceModel();
    for (int column = 0; column < source->columnCount(); ++column) {
        bool known = source->rowCount() == 0;
        for (int row = 0; row < source->rowCount() && !known; ++row) {
            const QVariant raw = source->index(row, column).data(kRawRole);
            known = raw.isValid() && !(raw.typeId() == QMetaType::QString && raw.toString().isEmpty());
        }
        const bool hidden = !known || always.contains(column);
        const bool appears = !hidden && isColumnHidden(column);
        setColumnHidden(column, hidden);
        // It was not there when the others got their widths.
        if (appears && header()->sectionResizeMode(column) == QHeaderView::Interactive)
            header()->resizeSection(column, std::max(header()->sectionSize(column), header()->sectionSizeHint(column)));
    }
}

QString TableView::rowText(const QModelIndex& row, const QString& separator) const {
    QStringList cells;
    for (int visual = 0; visual < header()->count(); ++visual) {
        const int column = header()->logicalIndex(visual);
        if (!isColumnHidden(column)) cells << cellText(row.siblingAtColumn(column));
    }
    return cells.join(separator);
}

QString TableView::tableText(Format format) const {
    const bool markdown = format == Format::markdown;
    const QString separator = markdown ? " | " : "\t";
    const auto line = [&](const QString& cells) { return markdown ? "| " + cells + " |\n" : cells + "\n"; };
    QStringList titles, rules;
    for (int visual = 0; visual < header()->count(); ++visual) {
        const int column = header()->logicalIndex(visual);
        if (isColumnHidden(column)) continue;
        titles << model()->headerData(column, Qt::Horizontal).toString();
        const bool right = model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
        rules << (right ? "---:" : "---");
    }
    QString text = line(titles.join(separator));
    if (markdown) text += line(rules.join(separator));
    const std::function<void(const QModelIndex&)> walk = [&](const QModelIndex& parent) {
        for (int row = 0; row < model()->rowCount(parent); ++row) {
            const QModelIndex at = model()->index(row, 0, parent);
            QString cells = rowText(at, separator);
            text += line(cells);
            walk(at);
        }
    };
    walk({});
    return text;
}

void TableView::copySelection() {
    QStringList lines;
    for (const QModelIndex& row : selectionModel()->selectedRows()) lines << rowText(row, "\t");
    if (!lines.isEmpty()) QApplication::clipboard()->setText(lines.join('\n'));
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
    const QPersistentModelIndex at = indexAt(event->pos());
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (at.isValid()) {
        menu->addAction("Copy cell", this, [at] { QApplication::clipboard()->setText(cellText(at)); });
        menu->addAction("Copy row", this, [this, at] { QApplication::clipboard()->setText(rowText(at, "\t")); });
    }
    menu->addAction("Copy table", this, [this] { QApplication::clipboard()->setText(tableText(Format::tsv)); });
    menu->addAction("Copy table as Markdown", this,
                    [this] { QApplication::clipboard()->setText(tableText(Format::markdown)); });
    menu->addSeparator();
    menu->addAction("Export CSV…", this, &TableView::exportRequested);
    menu->popup(event->globalPos());
}

void TableView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) copySelection();
    else QTreeView::keyPressEvent(event);
}

}  // namespace kernelscope::ui
