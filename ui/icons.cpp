#include "ui/icons.h"

#include <QFile>
#include <QPainter>
#include <QSvgRenderer>

// Outside of any namespace: the macro declares a function of the global one.
static void initKernelscopeResources() { Q_INIT_RESOURCE(kernelscope); }

namespace kernelscope::ui {

void initResources() { initKernelscopeResources(); }

QPixmap iconPixmap(const QString& name, const QColor& color, int size, double ratio) {
    QFile file(":/icons/" + name + ".svg");
    if (!file.open(QIODevice::ReadOnly)) return {};
    QSvgRenderer renderer(file.readAll().replace("currentColor", color.name().toLatin1()));
    QPixmap pixmap(QSize(size, size) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter, QRectF(0, 0, size, size));
    return pixmap;
}

QIcon icon(const QString& name, const QColor& color, int size) {
    QIcon result;
    for (const double ratio : {1.0, 1.5, 2.0, 3.0}) result.addPixmap(iconPixmap(name, color, size, ratio));
    return result;
}

}  // namespace kernelscope::ui
