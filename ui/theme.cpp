#include "ui/theme.h"

#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetrics>
#include <QStyleFactory>
#include <QWidget>

#include "ui/style_sheet.h"

namespace kernelscope::ui {
namespace {

const Theme kLight{
    .dark = false,
    .window = "#fafafa", .surface = "#ffffff", .rail = "#f2f3f5", .border = "#dfe2e6", .field = "#ffffff",
    .text = "#1b1f27", .muted = "#5c6470", .accent = "#2058d6", .onAccent = "#ffffff",
    .good = "#15803d", .warn = "#8a5a00", .bad = "#b42318",
    .grid = "#e6e8eb", .hover = "#eef0f3", .selection = "#dde7fb"};

const Theme kDark{
    .dark = true,
    .window = "#16181d", .surface = "#1d2027", .rail = "#21252c", .border = "#323843", .field = "#22262e",
    .text = "#e7e9ec", .muted = "#a0a7b2", .accent = "#6ea4ff", .onAccent = "#0b1220",
    .good = "#4cc38a", .warn = "#e2b340", .bad = "#ff8a80",
    .grid = "#2c313a", .hover = "#282d36", .selection = "#2a3c5e"};

const Theme kHighContrast{
    .dark = true,
    .window = "#000000", .surface = "#000000", .rail = "#000000", .border = "#ffffff", .field = "#000000",
    .text = "#ffffff", .muted = "#f0f0f0", .accent = "#ffff00", .onAccent = "#000000",
    .good = "#66ff99", .warn = "#ffd800", .bad = "#ff9a94",
    .grid = "#6a6a6a", .hover = "#303030", .selection = "#00498f"};

// Qt 6.4 cannot say which scheme the desktop prefers; the platform's own palette can.
bool platformIsDark(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

QPalette paletteOf(const Theme& theme) {
    QPalette palette;
    palette.setColor(QPalette::Window, theme.window);
    palette.setColor(QPalette::WindowText, theme.text);
    palette.setColor(QPalette::Base, theme.field);
    palette.setColor(QPalette::AlternateBase, theme.hover);
    palette.setColor(QPalette::Text, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.muted);
    palette.setColor(QPalette::Button, theme.field);
    palette.setColor(QPalette::ButtonText, theme.text);
    palette.setColor(QPalette::BrightText, theme.bad);
    palette.setColor(QPalette::ToolTipBase, theme.surface);
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::Highlight, theme.selection);
    palette.setColor(QPalette::HighlightedText, theme.text);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::Mid, theme.border);
    palette.setColor(QPalette::Midlight, theme.border);
    palette.setColor(QPalette::Light, theme.surface);
    palette.setColor(QPalette::Dark, theme.border);
    palette.setColor(QPalette::Shadow, theme.border);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText}) {
        palette.setColor(QPalette::Disabled, role, blend(theme.muted, theme.window, 0.7));
    }
    return palette;
}

QFont baseFont(double zoom) {
    static const QFont platform = QApplication::font();
    QFont font = platform;
    if (QFontDatabase::hasFamily("Inter")) font.setFamilies({"Inter", platform.family()});
    const double points = platform.pointSizeF() > 0 ? std::clamp(platform.pointSizeF(), 9.0, 11.0) : 9.75;
    font.setPointSizeF(std::clamp(points * zoom, 6.0, 40.0));
    return font;
}

double luminance(const QColor& color) {
    const auto linear = [](double channel) {
        return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

const Theme& Theme::of(const QPalette& palette) {
    const QColor window = palette.color(QPalette::Active, QPalette::Window);
    if (window == kHighContrast.window) return kHighContrast;
    return window.lightness() < 128 ? kDark : kLight;
}

namespace {
thread_local int papers = 0;
}

OnPaper::OnPaper() { ++papers; }
OnPaper::~OnPaper() { --papers; }

// A style sheet rewrites the palettes of the widgets it touches ("background: transparent" turns Window black), so the
// application's is asked. The widget stands for "in its paint event".
const Theme& Theme::of(const QWidget*) { return papers > 0 ? kLight : of(QApplication::palette()); }

QString toString(Scheme scheme) {
    switch (scheme) {
    case Scheme::light: return "light";
    case Scheme::dark: return "dark";
    case Scheme::highContrast: return "high-contrast";
    case Scheme::system: break;
    }
    return "system";
}

Scheme schemeFromString(const QString& text) {
    for (const Scheme scheme : {Scheme::light, Scheme::dark, Scheme::highContrast}) {
        if (text == toString(scheme)) return scheme;
    }
    return Scheme::system;
}

void applyTheme(QApplication& application, Scheme scheme, double zoom) {
    static const bool systemDark = platformIsDark(QApplication::palette());  // before ours replaces it
    const QFont font = baseFont(zoom);
    const Theme& theme = scheme == Scheme::highContrast ? kHighContrast
                         : scheme == Scheme::dark || (scheme == Scheme::system && systemDark) ? kDark
                                                                                              : kLight;
    static const bool styled = [] { QApplication::setStyle(QStyleFactory::create("Fusion")); return true; }();
    Q_UNUSED(styled);
    QApplication::setFont(font);
    QApplication::setPalette(paletteOf(theme));
    application.setStyleSheet(styleSheet(theme, QFontMetrics(font).height()));
}

QColor typeColor(const QString& moduleType) {
    struct Entry { const char* name; QRgb color; };
    static constexpr Entry kEntries[] = {
        {"Attention", 0xff4477aa}, {"MLP", 0xff228833}, {"RMSNorm", 0xffee6677}, {"LM head", 0xffccbb44},
        {"Residual", 0xffaa3377},  {"Embedding", 0xff66ccee}, {"Rotary", 0xffbbbbbb}};
    for (const Entry& entry : kEntries) {
        if (moduleType == QLatin1String(entry.name)) return QColor::fromRgba(entry.color);
    }
    return QColor(0x8a, 0x8f, 0x98);
}

QColor unattributedColor(const Theme& theme) { return theme.dark ? QColor("#6b7280") : QColor("#8a9099"); }

QColor blend(const QColor& color, const QColor& under, double alpha) {
    const auto mix = [alpha](double top, double bottom) { return float(top * alpha + bottom * (1 - alpha)); };
    return QColor::fromRgbF(mix(color.redF(), under.redF()), mix(color.greenF(), under.greenF()),
                            mix(color.blueF(), under.blueF()));
}

double contrast(const QColor& a, const QColor& b) {
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QColor readableOn(const QColor& background) {
    const QColor white(Qt::white), black(0x11, 0x13, 0x18);
    return contrast(background, white) >= contrast(background, black) ? white : black;
}

QColor edgeColor(const QColor& fill, const QColor& ground) {
    constexpr double kLeast = 3;  // WCAG 2.1, 1.4.11
    const QColor towards = readableOn(ground);
    for (double part = 1; part > 0; part -= 0.05) {
        const QColor edge = blend(fill, towards, part);
        if (contrast(edge, ground) >= kLeast) return edge;
    }
    return towards;
}

QPen edgePen(const QColor& fill, const QColor& ground) {
    const QColor edge = edgeColor(fill, ground);
    return edge == fill ? QPen(Qt::NoPen) : QPen(edge, 1);
}

int space(const QWidget* widget, double quarters) {
    return std::max(1, int(std::lround(widget->fontMetrics().height() * quarters / 4)));
}

}  // namespace kernelscope::ui
