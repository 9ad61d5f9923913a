#pragma once

#include <QLayout>
#include <QList>

class QLabel;

namespace kernelscope::ui {

/// Controls one after another, each at its own size, in as many lines as the width asks for: nothing is squeezed or cut.
class WrapLayout : public QLayout {
    Q_OBJECT
public:
    explicit WrapLayout(QWidget* parent);
    ~WrapLayout() override;

    /// A caption and its field, which stay together.
    QLabel* addPair(const QString& caption, QWidget* field);

    void addItem(QLayoutItem* item) override { m_items << item; }
    [[nodiscard]] int count() const override { return int(m_items.size()); }
    [[nodiscard]] QLayoutItem* itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem* takeAt(int index) override { return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr; }
    [[nodiscard]] Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSize() const override;
    void setGeometry(const QRect& area) override;

private:
    int arrange(const QRect& area, bool place) const;  ///< returns the height it takes

    QList<QLayoutItem*> m_items;
};

}  // namespace kernelscope::ui
