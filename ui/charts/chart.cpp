#include "ui/charts/chart.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileInfo>
#include <QImage>
#include <QMenu>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

void drawOn(QPaintDevice& device, const Chart& chart, double scale) {
    QPainter painter(&device);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    painter.setFont(chart.font());
    const QRectF area(QPointF(0, 0), QSizeF(chart.pictureSize()));
    painter.fillRect(area, Theme::of(&chart).surface);
    chart.draw(painter, area);
}

QImage imageOf(const Chart& chart) {
    constexpr double kScale = 2;  // sharp in a document and on a high-density screen
    QImage image(chart.pictureSize() * kScale, QImage::Format_RGB32);
    drawOn(image, chart, kScale);
    return image;
}

}  // namespace

Chart::Chart(const QString& name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(name);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
}

void Chart::setSentence(const QString& sentence) { setAccessibleDescription(sentence); }

void Chart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    draw(painter, rect());
    if (hasFocus() && m_byKeyboard) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(blend(Theme::of(this).accent, Theme::of(this).surface, 0.7), 1));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
}

void Chart::focusInEvent(QFocusEvent* event) {
    m_byKeyboard = event->reason() != Qt::MouseFocusReason && event->reason() != Qt::ActiveWindowFocusReason && event->reason() != Qt::OtherFocusReason;
    QWidget::focusInEvent(event);
}

QRectF inset(const QRectF& area, double margin) { return area.adjusted(margin, margin, -margin, -margin); }

void Chart::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction("Copy picture", this, [this] { QApplication::clipboard()->setImage(imageOf(*this)); });
    menu->addAction("Save picture…", this, &Chart::saveRequested);
    menu->popup(event->globalPos());
}

Result<void> savePicture(const Chart& chart, const QString& file) {
    const QString suffix = QFileInfo(file).suffix().toLower();
    const auto refuse = [&](const QString& why) {
        return makeError(ErrorCode::environment, fromQt(file + " could not be written: " + why),
                         "Choose another folder or free some space.");
    };
    if (suffix != "png" && suffix != "svg" && suffix != "pdf") {
        return makeError(ErrorCode::usage, fromQt("\"" + suffix + "\" is no picture format known here."),
                         "End the file's name in .png, .svg or .pdf.");
    }
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) return refuse(out.errorString());
    if (suffix == "png") {
        imageOf(chart).save(&out, "PNG");
    } else if (suffix == "svg") {
        QSvgGenerator svg;
        svg.setOutputDevice(&out);
        svg.setSize(chart.pictureSize());
        svg.setViewBox(QRect(QPoint(0, 0), chart.pictureSize()));
        svg.setTitle(chart.accessibleName());
        svg.setDescription(chart.accessibleDescription());
        drawOn(svg, chart, 1);
    } else {
        QPdfWriter pdf(&out);
        pdf.setTitle(chart.accessibleName());
        pdf.setResolution(96 * 8);
        pdf.setPageMargins(QMarginsF(0, 0, 0, 0));
        const QSizeF points(chart.pictureSize().width() * 0.75, chart.pictureSize().height() * 0.75);
        pdf.setPageSize(QPageSize(points, QPageSize::Point, {}, QPageSize::ExactMatch));
        drawOn(pdf, chart, pdf.width() / double(chart.pictureSize().width()));
    }
    if (!out.commit()) return refuse(out.errorString());
    return {};
}

}  // namespace kernelscope::ui
