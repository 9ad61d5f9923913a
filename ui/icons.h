#pragma once

#include <QColor>
#include <QIcon>
#include <QPixmap>

namespace kernelscope::ui {

/// One of resources/icons, its strokes in `color`; drawn at `size` for the screen's `ratio`.
QPixmap iconPixmap(const QString& name, const QColor& color, int size, double ratio);
QIcon icon(const QString& name, const QColor& color, int size);

/// Makes the resources of this static library known; call once before the first icon.
void initResources();

}  // namespace kernelscope::ui
