#include "ui/text.h"

#include <clocale>
#include <cmath>

#include <QDateTime>
#include <QFontMetricsF>
#include <QLocale>
#include <QPainter>

namespace kernelscope::ui {
namespace {

constexpr QChar kThinSpace(0x2009);

bool isDigit(QChar c) { return c >= u'0' && c <= u'9'; }

}  // namespace

void readFiguresAsFilesHaveThem() {
    QLocale::setDefault(QLocale::c());
    std::setlocale(LC_NUMERIC, "C");
}

QString number(double value, int decimals) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    QString text = QString::number(value, 'f', decimals);
    const bool negative = text.startsWith('-');
    int point = int(text.indexOf('.'));
    if (point < 0) point = int(text.size());
    for (int at = point - 3; at > (negative ? 1 : 0); at -= 3) text.insert(at, kThinSpace);
    if (negative) text[0] = QChar(0x2212);
    return text;
}

QString number(const std::optional<double>& value, int decimals, const QString& unknown) {
    return value ? number(*value, decimals) : unknown;
}

QString figure(double value) {
    const double size = std::abs(value);
    if (size == 0) return "0";
    if (size >= 100) return number(value, 0);
    if (size >= 10) return number(value, 1);
    if (size >= 0.1) return number(value, 2);
    return number(value, 3);
}

QString duration(double seconds) {
    if (seconds < 10) return number(seconds, 1) + " s";
    const auto whole = qint64(std::llround(seconds));
    if (whole < 60) return QString("%1 s").arg(whole);
    if (whole < 3600) return QString("%1 min %2 s").arg(whole / 60).arg(whole % 60);
    return QString("%1 h %2 min").arg(whole / 3600).arg(whole % 3600 / 60);
}

QString bytes(double count) {
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (count >= 1024 && unit < 4) { count /= 1024; ++unit; }
    return number(count, unit == 0 || count >= 100 ? 0 : 1) + " " + kUnits[unit];
}

QString plain(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return toQt(*text);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return QString::number(qlonglong(*whole));
    if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    if (const auto* real = std::get_if<double>(&value)) {
        if (std::isnan(*real)) return "nan";
        if (std::isinf(*real)) return *real > 0 ? "inf" : "-inf";
        return QString::number(*real, 'g', QLocale::FloatingPointShortest);
    }
    return {};
}

QString localTime(const std::string& iso) {
    const QDateTime time = QDateTime::fromString(toQt(iso), Qt::ISODate);
    return time.isValid() ? time.toLocalTime().toString("yyyy-MM-dd HH:mm") : toQt(iso);
}

double tabularWidth(const QFontMetricsF& metrics, const QString& text) {
    const double digit = metrics.horizontalAdvance('0');
    double width = 0;
    for (const QChar c : text) width += isDigit(c) ? digit : metrics.horizontalAdvance(c);
    return width;
}

void drawTabular(QPainter& painter, const QRectF& rect, Qt::Alignment alignment, const QString& text) {
    const QFontMetricsF metrics(painter.font());
    const double digit = metrics.horizontalAdvance('0');
    const double width = tabularWidth(metrics, text);
    double x = rect.left();
    if (alignment & Qt::AlignRight) x = rect.right() - width;
    if (alignment & Qt::AlignHCenter) x = rect.center().x() - width / 2;
    const double baseline = alignment & Qt::AlignTop ? rect.top() + metrics.ascent()
                                                     : rect.center().y() + (metrics.ascent() - metrics.descent()) / 2;
    for (const QChar c : text) {
        const double advance = metrics.horizontalAdvance(c);
        const double cell = isDigit(c) ? digit : advance;
        painter.drawText(QPointF(x + (cell - advance) / 2, baseline), QString(c));
        x += cell;
    }
}

}  // namespace kernelscope::ui
