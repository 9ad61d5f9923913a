#include "ui/pages/large_run_panel.h"

#include <algorithm>

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "core/records/rows.h"
#include "ui/models/paged_rows.h"
#include "ui/text.h"
#include "ui/theme.h"
#include "ui/widgets/card.h"

namespace kernelscope::ui {

LargeRunPanel::LargeRunPanel(QWidget* parent)
    : QWidget(parent), m_headline(new QLabel(this)), m_facts(new QLabel(this)), m_card(new Card("Rows", this)), m_type(new QComboBox(m_card)), m_model(new PagedRows(this)),
      m_table(new QTableView(m_card)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(space(this, 2));
    auto* head = new QHBoxLayout;
    m_headline->setProperty("role", "headline");
    m_headline->setWordWrap(true);
    auto* save = new QPushButton("Export…", this);
    auto* back = new QPushButton("Back to the runs", this);
    for (QPushButton* button : {save, back}) button->setAutoDefault(false);
    head->addWidget(m_headline, 1);
    head->addWidget(save);
    head->addWidget(back);
    m_facts->setProperty("role", "muted");
    m_facts->setWordWrap(true);
    m_type->setAccessibleName("Kind of rows");
    m_card->addTool(m_type);
    m_table->setAccessibleName("Rows");
    m_table->setModel(m_model);
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + space(this, 2));
    m_card->setBody(m_table);
    column->addLayout(head);
    column->addWidget(m_facts);
    column->addWidget(m_card, 1);
    connect(back, &QPushButton::clicked, this, &LargeRunPanel::backRequested);
    connect(save, &QPushButton::clicked, this, [this] { if (m_run) emit exportRequested(toQt(m_run->summary.header.id)); });
    connect(m_type, &QComboBox::activated, this, &LargeRunPanel::showType);
}

void LargeRunPanel::show(const SavedRunPtr& run, RunLibrary* library) {
    m_run = run;
    m_library = library;
    const RunHeader& header = run->summary.header;
    m_headline->setText(header.headline.empty() ? toQt(header.kind) + " " + toQt(header.id) : toQt(header.headline));
    m_facts->setText(QStringList{toQt(header.kind) + " " + toQt(header.id), localTime(header.when), toQt(header.model), toQt(header.device), toQt(header.dtype),
                                 "too many rows for charts: read from the store as the table moves; an export has them all"}
                         .join(" · "));
    m_type->clear();
    for (const auto& [type, rows] : run->large) m_type->addItem(QString("%1: %2 rows").arg(toQt(type), number(double(rows), 0)), toQt(type));
    showType();
}

void LargeRunPanel::showType() {
    for (const auto& [name, rows] : m_run->large) {
        const RowType* type = findRowType(name);
        if (!type || toQt(name) != m_type->currentData().toString()) continue;
        m_model->reset(*type, rows, [library = m_library, id = toQt(m_run->summary.header.id), name = name, context = QPointer<QObject>(m_model)](
                                        std::int64_t offset, std::int64_t count, std::function<void(const std::vector<RowRecord>&)> done) {
            library->page(id, name, offset, count, context, std::move(done));
        });
        for (int section = 0; section < m_model->columnCount(); ++section) {
            // Its rows come later; names of operators and variants are that long.
            const int title = fontMetrics().horizontalAdvance(m_model->headerData(section, Qt::Horizontal, Qt::DisplayRole).toString());
            const int content = type->columns[std::size_t(section)].kind == ColumnKind::text ? fontMetrics().horizontalAdvance("add_rms_norm") : 0;
            m_table->setColumnWidth(section, std::max(title, content) + space(this, 6));
        }
        m_card->setHint(QString("%1 rows").arg(number(double(rows), 0)));
    }
}

}  // namespace kernelscope::ui
