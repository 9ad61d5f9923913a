#include "ui/widgets/token_view.h"

#include <algorithm>

#include "ui/theme.h"

namespace kernelscope::ui {

TokenView::TokenView(QWidget* parent) : QTextBrowser(parent) {
    setAccessibleName("Tokens of both");
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
}

void TokenView::show(const std::vector<Side>& sides, bool meaningless) {
    const Theme& theme = Theme::of(this);
    std::size_t common = 0, least = sides.empty() ? 0 : sides.front().ids.size();
    for (const Side& side : sides) least = std::min(least, side.ids.size());
    while (common < least && std::all_of(sides.begin(), sides.end(), [&](const Side& side) { return side.ids[common] == sides.front().ids[common]; })) ++common;
    QString html;
    for (const Side& side : sides) {
        html += "<p><b>" + side.name.toHtmlEscaped() + "</b><br>";
        for (std::size_t i = 0; i < side.ids.size(); ++i) {
            const QString id = QString::number(side.ids[i]);
            // The first difference is marked by an arrow too, since a colour alone says nothing to some.
            if (sides.size() > 1 && i == common) html += QString("<span style='color:%1'><b>&#9654;&nbsp;%2</b></span>&ensp;").arg(theme.bad.name(), id);
            else html += QString("<span style='color:%1'>%2</span>&ensp;").arg(i > common && sides.size() > 1 ? theme.muted.name() : theme.text.name(), id);
        }
        html += "</p>";
        if (!side.text.isEmpty()) {
            html += QString("<p style='color:%1'>%2</p>").arg(theme.muted.name(), side.text.toHtmlEscaped().replace('\n', "<br>"));
        }
    }
    if (meaningless && !sides.empty()) html += QString("<p style='color:%1'>The weights are random: the tokens mean nothing, only their equality does.</p>").arg(theme.muted.name());
    setHtml(html);
}

}  // namespace kernelscope::ui
