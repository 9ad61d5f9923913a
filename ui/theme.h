#pragma once
// Colours, fonts and spacing. A widget asks for the theme of its palette, so nothing has to be handed around
// and a palette change reaches every painter.

#include <QColor>
#include <QPalette>
#include <QPen>
#include <QString>

class QApplication;
class QWidget;

namespace kernelscope::ui {

enum class Scheme { system, light, dark, highContrast };

struct Theme {
    bool dark = false;
    QColor window, surface, rail, border, field;
    QColor text, muted, accent, onAccent;
    QColor good, warn, bad;
    QColor grid, hover, selection;

    static const Theme& of(const QPalette& palette);
    static const Theme& of(const QWidget* widget);
};

/// While one lives, widgets paint in light colours, whatever the screen's are: what goes on paper. Of the thread that paints.
class OnPaper {
public:
    OnPaper();
    ~OnPaper();
    OnPaper(const OnPaper&) = delete;
    OnPaper& operator=(const OnPaper&) = delete;
};

QString toString(Scheme scheme);
Scheme schemeFromString(const QString& text);

/// Fusion, our palette and the style sheet made from it. `zoom` scales the font and everything measured from it.
void applyTheme(QApplication& application, Scheme scheme, double zoom);

/// A module type's colour, the same in every chart; worn by nothing else. Unknown types are grey.
QColor typeColor(const QString& moduleType);
/// Grey of "unattributed", told from Rotary's grey by its hatching.
QColor unattributedColor(const Theme& theme);

/// `color` laid over `under` with `alpha`: an opaque colour, since exports know no transparency.
QColor blend(const QColor& color, const QColor& under, double alpha);
/// Black or white, whichever reads better on `background`.
QColor readableOn(const QColor& background);
/// Contrast ratio of WCAG 2, from 1 to 21.
double contrast(const QColor& a, const QColor& b);

/// A colour next to `fill` that stands out from `ground` by 3 to 1, as shapes have to: `fill` itself where it does.
QColor edgeColor(const QColor& fill, const QColor& ground);
/// The line around a shape of that colour; none where the colour does without.
QPen edgePen(const QColor& fill, const QColor& ground);

/// Multiples of a quarter of the widget's line height: spacing follows the font.
int space(const QWidget* widget, double quarters);

}  // namespace kernelscope::ui
