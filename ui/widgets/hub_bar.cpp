#include "ui/widgets/hub_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {

HubBar::HubBar(QWidget* parent)
    : QFrame(parent), m_edit(new QLineEdit(this)), m_get(new QPushButton("Get", this)), m_close(new QPushButton("Close", this)), m_progress(new QProgressBar(this)),
      m_message(new QLabel(this)) {
    setProperty("role", "card");
    setAccessibleName("Get a model from the hub");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(space(this, 3), space(this, 2), space(this, 2), space(this, 2));
    column->setSpacing(space(this, 2));
    auto* row = new QHBoxLayout;
    row->setSpacing(space(this, 2));
    auto* label = new QLabel("Model on the hub", this);
    label->setBuddy(m_edit);
    m_edit->setAccessibleName("Model on the hub");
    m_edit->setPlaceholderText("Owner and name, such as Qwen/Qwen2.5-0.5B-Instruct");
    m_edit->setToolTip("Fetched into the hub cache of the engine's machine, every file verified.\nHF_ENDPOINT, HF_HUB_CACHE, HF_TOKEN and proxies hold as set where the engine runs.");
    m_get->setProperty("role", "primary");
    m_progress->setTextVisible(false);
    m_progress->setMaximumWidth(space(this, 4 * 14));
    m_progress->setAccessibleName("Progress");
    m_progress->hide();
    row->addWidget(label);
    row->addWidget(m_edit, 1);
    row->addWidget(m_progress);
    for (QPushButton* button : {m_get, m_close}) {
        button->setAutoDefault(false);
        row->addWidget(button);
    }
    column->addLayout(row);
    m_message->setWordWrap(true);
    m_message->setProperty("role", "muted");
    m_message->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_message->hide();
    column->addWidget(m_message);
    connect(m_get, &QPushButton::clicked, this, [this] {
        if (m_fetching) emit cancelRequested();
        else if (!m_edit->text().trimmed().isEmpty()) emit requested(m_edit->text().trimmed());
    });
    connect(m_edit, &QLineEdit::returnPressed, this, [this] { if (!m_fetching) m_get->click(); });
    connect(m_close, &QPushButton::clicked, this, &QWidget::hide);
    hide();
}

QString HubBar::message() const { return m_message->text(); }

void HubBar::open(const QString& model) {
    if (!m_fetching) {
        if (!model.isEmpty()) m_edit->setText(model);
        m_message->hide();
    }
    show();
    m_edit->setFocus();
    m_edit->selectAll();
}

void HubBar::begin() {
    m_fetching = true;
    m_edit->setReadOnly(true);
    m_get->setText("Cancel");
    m_progress->setRange(0, 0);
    m_progress->show();
    say("Asking the hub…", false);
}

void HubBar::setProgress(const Progress& progress) {
    if (!m_fetching) return;
    m_progress->setRange(0, int(progress.total));
    m_progress->setValue(int(progress.done));
    QString text = toQt(progress.phase);
    if (progress.total > 0) {
        constexpr double kMebibyte = 1 << 20;  // what the engine counts in
        text = text.section(", MiB", 0, 0) + QString(": %1 of %2").arg(bytes(double(progress.done) * kMebibyte), bytes(double(progress.total) * kMebibyte));
    }
    if (progress.secondsLeft) text += QString(", %1 left").arg(duration(*progress.secondsLeft));
    say(text, false);
}

void HubBar::end(const Error& error) {
    m_fetching = false;
    m_edit->setReadOnly(false);
    m_get->setText("Get");
    m_progress->hide();
    if (error.message.empty()) say(m_edit->text().trimmed() + " is here, every file verified, and chosen above.", false);
    else {
        const auto sentence = [](const std::string& words) { return toQt(words).left(1).toUpper() + toQt(words).mid(1); };
        say(sentence(error.message) + (error.advice.empty() ? QString() : "\n" + sentence(error.advice)), true);
    }
}

void HubBar::say(const QString& text, bool wrong) {
    m_message->setProperty("role", wrong ? "bad" : "muted");
    m_message->style()->unpolish(m_message);
    m_message->style()->polish(m_message);
    m_message->setText(text);
    m_message->setAccessibleName(text);
    m_message->show();
}

}  // namespace kernelscope::ui
