#include "ui/widgets/card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/theme.h"
#include "ui/widgets/elided_label.h"

namespace kernelscope::ui {

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent), m_column(new QVBoxLayout(this)), m_head(new QHBoxLayout), m_title(new ElidedLabel(this)),
      m_hint(new ElidedLabel(this)) {
    setProperty("role", "card");
    m_title->setProperty("role", "title");
    m_title->setText(title);
    m_title->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);  // whole where there is room
    m_hint->setProperty("role", "muted");
    m_head->setSpacing(space(this, 2));
    m_head->addWidget(m_title);
    m_head->addWidget(m_hint, 1);
    m_column->setContentsMargins(space(this, 3), space(this, 2.5), space(this, 3), space(this, 2.5));
    m_column->setSpacing(space(this, 1.5));
    m_column->addLayout(m_head);
}

void Card::setTitle(const QString& title) { m_title->setText(title); }
void Card::setHint(const QString& hint) { m_hint->setText(hint); }
void Card::addTool(QWidget* tool) { m_head->addWidget(tool); }

void Card::setBody(QWidget* body, int stretch) { m_column->addWidget(body, stretch); }

}  // namespace kernelscope::ui
