#include "ui/widgets/empty_state.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme.h"

namespace kernelscope::ui {

EmptyState::EmptyState(const QString& sentence, const QString& action, QWidget* parent)
    : QWidget(parent), m_sentence(new QLabel(sentence, this)), m_button(new QPushButton(action, this)) {
    auto* column = new QVBoxLayout(this);
    column->setSpacing(space(this, 3));
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setProperty("role", "muted");
    m_button->setAutoDefault(false);
    m_button->setVisible(!action.isEmpty());
    column->addStretch(1);
    column->addWidget(m_sentence);
    column->addWidget(m_button, 0, Qt::AlignCenter);
    column->addStretch(1);
    connect(m_button, &QPushButton::clicked, this, &EmptyState::activated);
}

void EmptyState::setSentence(const QString& sentence) { m_sentence->setText(sentence); }

}  // namespace kernelscope::ui
