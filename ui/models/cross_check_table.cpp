#include "ui/models/cross_check_table.h"

#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

using Column = ColumnSpec<CrossCheckRow>;

Column figureColumn(const char* title, double CrossCheckRow::*member, int decimals, const char* suffix, const char* toolTip) {
    return {.title = QString::fromUtf8(title), .toolTip = QString::fromUtf8(toolTip), .numeric = true, .raw = [member](const CrossCheckRow& row) { return QVariant(row.*member); },
            .text = [=](const CrossCheckRow& row) { return number(row.*member, decimals) + suffix; }};
}

Column countColumn(const char* title, std::int64_t CrossCheckRow::*member, const char* toolTip) {
    return {.title = title, .toolTip = toolTip, .numeric = true, .raw = [member](const CrossCheckRow& row) { return QVariant(qlonglong(row.*member)); }};
}

}  // namespace

std::vector<ColumnSpec<CrossCheckRow>> crossCheckColumns() {
    return {
        {.title = "Type", .raw = [](const CrossCheckRow& row) { return QVariant(toQt(row.name)); },
         .tone = [](const CrossCheckRow& row) { return row.name == "total" || row.name == "unattributed" ? Tone::muted : Tone::normal; },
         .swatch = [](const CrossCheckRow& row) { return row.name == "total" || row.name == "unattributed" ? QColor() : typeColor(toQt(row.name)); }},
        countColumn("Kernels", &CrossCheckRow::kernels, "A pass"),
        figureColumn("Trace µs", &CrossCheckRow::traceUs, 1, "", "The driver's records of these kernels, summed over a pass"),
        figureColumn("Ours µs", &CrossCheckRow::kernelUs, 1, "", "Kernels alone, as measured without the driver's trace"),
        {.title = "Error", .toolTip = "Ours against the trace", .numeric = true,
         .raw = [](const CrossCheckRow& row) { return row.errorPct ? QVariant(*row.errorPct) : QVariant(); },
         .text = [](const CrossCheckRow& row) { return row.errorPct ? (*row.errorPct > 0 ? "+" : "") + number(*row.errorPct, 1) + " %" : QString(); }},
        figureColumn("Trace share", &CrossCheckRow::traceSharePct, 1, " %", "Of the trace's sum"),
        figureColumn("Our share", &CrossCheckRow::kernelSharePct, 1, " %", "Of our sum"),
        countColumn("Names differ", &CrossCheckRow::namesDiffer, "Kernels that the trace calls otherwise"),
    };
}

}  // namespace kernelscope::ui
