#include "ui/widgets/banner.h"

#include <algorithm>

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>

#include "ui/icons.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

/// With a capital letter, unless it begins with a name: my_norm.cu, rms_norm=my_norm, /a/path.
QString asSentence(const QString& text) {
    const QString word = text.section(' ', 0, 0);
    const bool plain = std::all_of(word.begin(), word.end(), [](QChar c) { return c.isLetter() || c == ',' || c == ':' || c == '\''; });
    return plain ? text.left(1).toUpper() + text.mid(1) : text;
}

}  // namespace

Banner::Banner(QWidget* parent)
    : QFrame(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)), m_action(new QPushButton(this)), m_second(new QPushButton(this)),
      m_close(new QToolButton(this)) {
    setObjectName("banner");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(space(this, 3), space(this, 2), space(this, 2), space(this, 2));
    row->setSpacing(space(this, 2.5));
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::RichText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    for (QPushButton* button : {m_action, m_second}) button->setAutoDefault(false);
    m_close->setProperty("role", "plain");
    m_close->setToolTip("Dismiss");
    m_close->setAccessibleName("Dismiss this message");
    row->addWidget(m_icon, 0, Qt::AlignVCenter);
    row->addWidget(m_text, 1);
    row->addWidget(m_second, 0, Qt::AlignVCenter);
    row->addWidget(m_action, 0, Qt::AlignVCenter);
    row->addWidget(m_close, 0, Qt::AlignVCenter);
    connect(m_action, &QPushButton::clicked, this, [this] { if (m_onAction) m_onAction(); });
    connect(m_second, &QPushButton::clicked, this, [this] { if (m_onSecond) m_onSecond(); });
    connect(m_close, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void Banner::show(Kind kind, const QString& message, const QString& advice, const QString& action,
                  std::function<void()> onAction, bool closable) {
    m_kind = kind;
    // Errors of the command line begin in lower case, after its own name; here they are sentences.
    m_message = asSentence(message);
    const QString wayOut = asSentence(advice);
    QString text = "<b>" + m_message.toHtmlEscaped() + "</b>";
    if (!wayOut.isEmpty()) text += "<br>" + wayOut.toHtmlEscaped();
    m_text->setText(text.replace('\n', "<br>"));
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    m_action->setAccessibleName(action);
    m_onAction = std::move(onAction);
    m_second->hide();
    m_close->setVisible(closable);
    setProperty("role", kind == Kind::error ? "banner-error" : kind == Kind::warning ? "banner-warning" : "banner-info");
    setAccessibleName(m_message);
    setAccessibleDescription(wayOut);
    style()->unpolish(this);
    style()->polish(this);
    drawIcon();
    QWidget::show();
}

void Banner::addAction(const QString& action, std::function<void()> onAction) {
    m_second->setText(action);
    m_second->setAccessibleName(action);
    m_onSecond = std::move(onAction);
    m_second->show();
}

QString Banner::message() const { return m_message; }

void Banner::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) drawIcon();
}

void Banner::drawIcon() {
    const Theme& theme = Theme::of(this);
    const int size = fontMetrics().height() + 2;
    const auto [name, color] = m_kind == Kind::error     ? std::pair{"error", theme.bad}
                               : m_kind == Kind::warning ? std::pair{"warning", theme.warn}
                                                         : std::pair{"history", theme.accent};
    m_icon->setPixmap(iconPixmap(name, color, size, devicePixelRatioF()));
    m_close->setIcon(icon("close", theme.muted, size));
}

}  // namespace kernelscope::ui
