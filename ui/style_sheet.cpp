#include "ui/style_sheet.h"

#include <cmath>

#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

// @name is a colour of the theme, $N is N sixteenths of a line height in pixels.
constexpr const char* kTemplate = R"(
QToolTip { color: @text; background: @surface; border: 1px solid @border; padding: $4px; }
QMenuBar { background: @rail; border: none; padding: 1px $4px; }
QMenuBar::item { padding: $4px $8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: @selection; }
QMenu { background: @surface; border: 1px solid @border; padding: $4px; }
QMenu::item { padding: $5px $24px $5px $24px; border-radius: 4px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @disabled; }
QMenu::separator { height: 1px; background: @border; margin: $4px; }
QMenu::indicator { left: $6px; width: $12px; height: $12px; }

QFrame[role="card"] { background: @surface; border: 1px solid @border; border-radius: 7px; }
QFrame[role="strip"] { background: @rail; border: none; border-top: 1px solid @border; }
QFrame[role="rail"] { background: @rail; border: none; border-right: 1px solid @border; }
QFrame[role="banner-error"] { background: @badBack; border: 1px solid @bad; border-radius: 7px; }
QFrame[role="banner-warning"] { background: @warnBack; border: 1px solid @warn; border-radius: 7px; }
QFrame[role="banner-info"] { background: @selection; border: 1px solid @accent; border-radius: 7px; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="headline"] { font-weight: 600; font-size: $20px; }
QLabel[role="good"] { color: @good; }
QLabel[role="warn"] { color: @warn; }
QLabel[role="bad"] { color: @bad; }

QPushButton, QToolButton[role="field"], QComboBox, QLineEdit, QSpinBox, QDoubleSpinBox {
  background: @field; color: @text; border: 1px solid @fieldBorder; border-radius: 5px; padding: $4px $9px; min-height: $17px; }
QPushButton { padding: $4px $14px; }
QPushButton:hover, QToolButton[role="field"]:hover, QComboBox:hover { background: @hover; }
QPushButton:pressed { background: @selection; }
QPushButton:focus, QToolButton[role="field"]:focus, QComboBox:focus, QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus { border: 1px solid @accent; }
QPushButton:disabled, QComboBox:disabled, QLineEdit:disabled, QSpinBox:disabled { color: @disabled; background: @window; }
QPushButton[role="primary"] { background: @accent; color: @onAccent; border: 1px solid @accent; font-weight: 600; padding: $4px $18px; }
QPushButton[role="primary"]:hover { background: @accentHover; }
QPushButton[role="primary"]:focus { border: 1px solid @text; }
QPushButton[role="primary"]:disabled { background: @border; border-color: @border; color: @disabled; }
QPushButton[role="stop"] { background: @surface; color: @bad; border: 1px solid @bad; font-weight: 600; padding: $4px $18px; }
QPushButton[role="stop"]:focus { border: 1px solid @text; }
QPushButton[role="link"] { background: transparent; border: 1px solid transparent; color: @accent; padding: $1px $3px; text-align: left; }
QPushButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus { border: 1px solid @accent; }
QToolButton[role="field"] { padding-right: $24px; }
QToolButton[role="field"]::menu-button { border: none; width: $20px; }
QToolButton[role="field"]::menu-arrow { image: url(:/icons/chevron@iconSuffix.svg); width: $12px; height: $12px; }
QToolButton[role="field"]::menu-indicator { image: url(:/icons/chevron@iconSuffix.svg); width: $12px; height: $12px; subcontrol-position: right center; right: $6px; }
QToolButton[role="field"]:disabled { color: @disabled; background: @window; }
QToolButton[role="plain"] { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: $3px; }
QToolButton[role="plain"]:hover { background: @hover; }
QToolButton[role="plain"]:focus { border: 1px solid @accent; }

QComboBox { padding-right: $20px; combobox-popup: 0; }
QComboBox::drop-down { border: none; width: $20px; subcontrol-position: right center; }
QComboBox::down-arrow { image: url(:/icons/chevron@iconSuffix.svg); width: $12px; height: $12px; }
QComboBox QLineEdit { border: none; padding: 0; background: transparent; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @border; selection-background-color: @selection; selection-color: @text; outline: 0; padding: $3px; }
QComboBox QAbstractItemView::item { min-height: $22px; padding: 0 $4px; border: none; }
QComboBox QAbstractItemView::item:selected { background: @selection; color: @text; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; border: none; }

QPushButton[role="segment"] { background: @field; border: 1px solid @fieldBorder; border-radius: 0; border-right: none; color: @muted; padding: $4px $11px; }
QPushButton[role="segment"][end="first"] { border-top-left-radius: 5px; border-bottom-left-radius: 5px; }
QPushButton[role="segment"][end="last"] { border-top-right-radius: 5px; border-bottom-right-radius: 5px; border-right: 1px solid @fieldBorder; }
QPushButton[role="segment"]:hover { background: @hover; }
QPushButton[role="segment"]:checked { background: @segment; color: @text; font-weight: 600; }
QPushButton[role="segment"]:focus { border: 1px solid @accent; }
QPushButton[role="segment"]:disabled { color: @disabled; }

QTreeView, QTableView, QListView { background: transparent; border: none; outline: 0; selection-background-color: @selection; selection-color: @text; }
QTreeView::item { border: none; border-bottom: 1px solid @grid; padding: $3px $4px; min-height: $16px; }
QTreeView::item:hover { background: @hover; }
QTreeView::item:selected { background: @selection; color: @text; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section { background: transparent; color: @muted; border: none; border-bottom: 1px solid @border; padding: $4px $4px; }
QHeaderView::section:vertical { padding: 0 $6px; border-bottom: none; }
QHeaderView::down-arrow { image: url(:/icons/chevron@iconSuffix.svg); width: $11px; height: $11px; }
QHeaderView::up-arrow { image: url(:/icons/chevron_up@iconSuffix.svg); width: $11px; height: $11px; }
QProgressBar { background: @grid; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
QScrollBar:vertical { background: transparent; width: $12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: $12px; margin: 0; }
QScrollBar::handle { background: @scroll; border-radius: 4px; margin: 2px; min-height: $24px; min-width: $24px; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: none; border: none; width: 0; height: 0; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QSplitter::handle { background: transparent; }
QPlainTextEdit, QTextEdit, QTextBrowser { background: transparent; border: none; color: @text; }
QCheckBox { spacing: $7px; padding: $2px 0; }
QCheckBox:focus, QRadioButton:focus { color: @accent; }
QTabBar::tab { background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent; padding: $4px $10px; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: none; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
)";

}  // namespace

QString styleSheet(const Theme& theme, int lineHeight) {
    QString sheet = kTemplate;
    sheet.replace("@iconSuffix", theme.dark ? "_light" : "_dark");
    const struct { const char* name; QColor color; } colors[] = {
        // longer names first where one begins another
        {"@accentHover", blend(theme.accent, theme.dark ? Qt::white : Qt::black, 0.88)},
        {"@badBack", blend(theme.bad, theme.surface, 0.08)},
        {"@warnBack", blend(theme.warn, theme.surface, 0.08)},
        {"@fieldBorder", blend(theme.muted, theme.border, theme.dark ? 0.15 : 0.1)},
        {"@disabled", blend(theme.muted, theme.window, 0.7)},
        {"@segment", theme.dark ? blend(theme.text, theme.field, 0.13) : theme.hover.darker(104)},
        {"@scroll", blend(theme.muted, theme.window, 0.35)},
        {"@onAccent", theme.onAccent}, {"@accent", theme.accent}, {"@selection", theme.selection},
        {"@surface", theme.surface}, {"@window", theme.window}, {"@border", theme.border}, {"@field", theme.field},
        {"@hover", theme.hover}, {"@muted", theme.muted}, {"@rail", theme.rail}, {"@text", theme.text},
        {"@good", theme.good}, {"@warn", theme.warn}, {"@grid", theme.grid}, {"@bad", theme.bad},
    };
    for (const auto& entry : colors) sheet.replace(entry.name, entry.color.name());
    for (int sixteenths = 64; sixteenths > 0; --sixteenths) {
        sheet.replace(QString("$%1px").arg(sixteenths),
                      QString("%1px").arg(std::max(1L, std::lround(sixteenths * lineHeight / 16.0))));
    }
    return sheet;
}

}  // namespace kernelscope::ui
