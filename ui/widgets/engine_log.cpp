#include "ui/widgets/engine_log.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTime>
#include <QVBoxLayout>

#include "ui/theme.h"

namespace kernelscope::ui {

EngineLog::EngineLog(QWidget* parent) : QDialog(parent), m_text(new QPlainTextEdit(this)) {
    constexpr int kKeptLines = 5000;
    setWindowTitle("Engine log");
    setModal(false);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(space(this, 2));
    m_text->setReadOnly(true);
    m_text->setUndoRedoEnabled(false);
    m_text->setMaximumBlockCount(kKeptLines);
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setPlaceholderText("The engine has said nothing beside its answers.");
    m_text->setAccessibleName("Engine log");
    column->addWidget(m_text, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setIcon({});
    auto* copy = buttons->addButton("Copy", QDialogButtonBox::ActionRole);
    column->addWidget(buttons);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(text()); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    resize(fontMetrics().averageCharWidth() * 100, fontMetrics().height() * 26);
}

void EngineLog::add(const QStringList& lines) {
    const QString now = QTime::currentTime().toString("HH:mm:ss  ");
    QString block;
    for (QString line : lines) {
        for (QChar& c : line)
            if (c.category() == QChar::Other_Control && c != '\t') c = '?';  // what would have commanded a terminal
        block += (block.isEmpty() ? "" : "\n") + now + line;
    }
    m_text->appendPlainText(block);
}

QString EngineLog::text() const { return m_text->toPlainText(); }

}  // namespace kernelscope::ui
