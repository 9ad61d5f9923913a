#include "ui/rail.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/icons.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

/// Icon over title; the chosen one has the accent at its edge.
class RailButton : public QAbstractButton {
public:
    RailButton(const QString& title, QString iconName, QWidget* parent) : QAbstractButton(parent), m_icon(std::move(iconName)) {
        setText(title);
        setAccessibleName(title);
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setAttribute(Qt::WA_Hover);
    }

    QSize sizeHint() const override {
        const int height = fontMetrics().height();
        return {height * 5, int(height * 3.5)};
    }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& theme = Theme::of(this);
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        if (isChecked()) {
            painter.fillRect(rect(), theme.window);
            painter.fillRect(QRect(0, 0, 3, height()), theme.accent);
        } else if (underMouse()) {
            painter.fillRect(rect(), blend(theme.hover, theme.rail, theme.dark ? 1.0 : 0.6));
        }
        const QColor color = isChecked() ? theme.text : theme.muted;
        const int size = int(fontMetrics().height() * 1.35);
        const double top = height() * 0.19;
        painter.drawPixmap(QPointF((width() - size) / 2.0, top), iconPixmap(m_icon, color, size, devicePixelRatioF()));
        QFont small = font();
        small.setPointSizeF(font().pointSizeF() * 0.88);
        painter.setFont(small);
        painter.setPen(color);
        painter.drawText(QRectF(0, top + size, width(), height() - top - size), Qt::AlignHCenter | Qt::AlignVCenter, text());
        if (hasFocus()) {
            painter.setPen(QPen(theme.accent, 1.5));
            painter.drawRoundedRect(QRectF(rect()).adjusted(4, 3, -4, -3), 4, 4);
        }
    }

private:
    QString m_icon;
};

}  // namespace

Rail::Rail(QWidget* parent) : QFrame(parent), m_group(new QButtonGroup(this)), m_column(new QVBoxLayout(this)) {
    setProperty("role", "rail");
    setAccessibleName("Pages");
    m_column->setContentsMargins(0, space(this, 2), 1, 0);
    m_column->setSpacing(0);
    m_column->addStretch(1);
    connect(m_group, &QButtonGroup::idClicked, this, &Rail::chosen);
}

void Rail::add(const QString& title, const QString& iconName) {
    const int id = int(m_group->buttons().size());
    auto* button = new RailButton(title, iconName, this);
    button->setToolTip(QString("%1 (Alt+%2)").arg(title).arg(id + 1));
    m_group->addButton(button, id);
    m_column->insertWidget(id, button);
}

void Rail::setCurrent(int page) {
    if (auto* button = m_group->button(page)) button->setChecked(true);
}

QWidget* Rail::buttonOf(int page) const { return m_group->button(page); }

}  // namespace kernelscope::ui
