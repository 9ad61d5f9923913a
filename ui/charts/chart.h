#pragma once

#include <QString>
#include <QWidget>

#include "core/records/result.h"

class QPainter;

namespace kernelscope::ui {

/// A picture of data: painted on the screen, in a PNG, an SVG and a PDF by the same code. The sentence says what it
/// shows, for tool tips of the menu and for screen readers.
class Chart : public QWidget {
    Q_OBJECT
public:
    explicit Chart(const QString& name, QWidget* parent = nullptr);

    virtual void draw(QPainter& painter, const QRectF& area) const = 0;
    void setSentence(const QString& sentence);

    /// The size a saved picture has, in logical pixels: that of the widget.
    [[nodiscard]] virtual QSize pictureSize() const { return size(); }

signals:
    void saveRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    bool m_byKeyboard = false;  // came by Tab: then the frame says where one is
};

/// What is left of an area inside a thin margin, for content that would touch the border.
QRectF inset(const QRectF& area, double margin);

/// Writes the picture; the format follows the suffix: .png (at twice the size), .svg or .pdf. Another suffix is refused in words.
Result<void> savePicture(const Chart& chart, const QString& file);

}  // namespace kernelscope::ui
