#pragma once
// Numbers as text, and text with figures of one width.

#include <optional>
#include <string>

#include <QRectF>
#include <QString>

#include "core/records/row.h"

class QFontMetricsF;
class QPainter;

namespace kernelscope::ui {

inline QString toQt(const std::string& text) { return QString::fromUtf8(text.data(), qsizetype(text.size())); }
inline QString toQt(std::string_view text) { return QString::fromUtf8(text.data(), qsizetype(text.size())); }
inline std::string fromQt(const QString& text) { return text.toUtf8().toStdString(); }

/// Call it after QApplication, which takes over the user's locale: from then on figures are read and written with a decimal point in every
/// locale. JSON in memory would else lose its fractions where that mark is more than a byte (Pashto's).
void readFiguresAsFilesHaveThem();

/// "3 152.4": fixed decimals, thin spaces between thousands, never a comma. Not finite: "nan", "inf".
QString number(double value, int decimals);
QString number(const std::optional<double>& value, int decimals, const QString& unknown = QString());
/// Three or so significant digits, for one figure alone: "6.16", "24", "0.031", "12 400".
QString figure(double value);
/// "1.8 s", "45 s", "3 min 20 s".
QString duration(double seconds);
/// "494 MB", "1.2 GiB" in powers of 1024, spelt GiB.
QString bytes(double count);
/// A record's value as it reads in a table; numbers keep their shortest round-trip digits.
QString plain(const Value& value);
/// "2026-01-31 12:34" in local time, from ISO 8601 UTC; the text itself when it is not a time.
QString localTime(const std::string& iso);

/// Width of `text` when every digit takes the width of "0".
double tabularWidth(const QFontMetricsF& metrics, const QString& text);
/// Draws one line with figures of equal width, so that columns of numbers stand still (Inter's own digits differ in
/// width and Qt 6.4 cannot ask for the tabular ones). Elides nothing.
void drawTabular(QPainter& painter, const QRectF& rect, Qt::Alignment alignment, const QString& text);

}  // namespace kernelscope::ui
