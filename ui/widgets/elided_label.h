#pragma once

#include <QLabel>

namespace kernelscope::ui {

/// One line that gives way: what does not fit ends in an ellipsis and stands whole in the tool tip. text() stays whole too.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget* parent = nullptr);
    void setText(const QString& text);
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace kernelscope::ui
