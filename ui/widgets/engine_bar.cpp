#include "ui/widgets/engine_bar.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>

#include "ui/theme.h"

namespace kernelscope::ui {

EngineBar::EngineBar(QWidget* parent) : QFrame(parent), m_label(new QLabel(this)), m_edit(new QLineEdit(this)), m_use(new QPushButton("Use", this)) {
    setProperty("role", "card");
    setAccessibleName("Engine settings");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(space(this, 3), space(this, 2), space(this, 2), space(this, 2));
    row->setSpacing(space(this, 2));
    m_label->setBuddy(m_edit);
    m_edit->setAccessibleName("Engine command");
    m_edit->setToolTip("Another machine is only another command: ssh gpubox kernelscope-engine");
    auto* browse = new QPushButton("Browse…", this);
    auto* standard = new QPushButton("This machine", this);
    auto* close = new QPushButton("Close", this);
    standard->setToolTip("The kernelscope-engine beside this program");
    m_use->setProperty("role", "primary");
    row->addWidget(m_label);
    row->addWidget(m_edit, 1);
    for (QPushButton* button : {browse, standard, m_use, close}) {
        button->setAutoDefault(false);
        row->addWidget(button);
    }
    connect(m_use, &QPushButton::clicked, this, [this] { hide(); emit chosen(m_edit->text().trimmed()); });
    connect(m_edit, &QLineEdit::returnPressed, m_use, &QPushButton::click);
    connect(standard, &QPushButton::clicked, this, [this] { hide(); emit chosen({}); });
    connect(close, &QPushButton::clicked, this, &QWidget::hide);
    connect(browse, &QPushButton::clicked, this, [this] {
        auto* dialog = new QFileDialog(this, "Choose the engine's program");
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, m_edit, [this](const QString& file) {
            m_edit->setText(file.contains(' ') ? "'" + QString(file).replace('\'', "'\\''") + "'" : file);
        });
        dialog->open();
    });
    hide();
}

void EngineBar::open(const QString& command, const QString& standard, const QString& title) {
    m_label->setText(title);
    m_edit->setText(command);
    m_edit->setPlaceholderText(standard);
    show();
    m_edit->setFocus();
    m_edit->selectAll();
}

}  // namespace kernelscope::ui
