#include "ui/models/kernel_tables.h"

#include "ui/models/kernel_summary.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

QVariant real(const std::optional<double>& value) { return value ? QVariant(*value) : QVariant(); }

template <typename Row>
ColumnSpec<Row> textColumn(const char* title, std::string Row::* member) {
    return {.title = title, .raw = [member](const Row& row) { return QVariant(toQt(row.*member)); }};
}

template <typename Row>
ColumnSpec<Row> wholeColumn(const char* title, std::int64_t Row::* member) {
    return {.title = title, .numeric = true, .raw = [member](const Row& row) { return QVariant(qlonglong(row.*member)); },
            .text = [member](const Row& row) { return QString::number(qlonglong(row.*member)); }};
}

template <typename Row>
ColumnSpec<Row> realColumn(const char* title, std::optional<double> Row::* member, int decimals, const char* suffix = "", const char* toolTip = "") {
    return {.title = QString::fromUtf8(title), .toolTip = toolTip, .numeric = true, .raw = [member](const Row& row) { return real(row.*member); },
            .text = [=](const Row& row) { return row.*member ? number(*(row.*member), decimals) + suffix : QString(); }};
}

// From a few GB/s of one row to thousands of a large cell: three digits of each.
template <typename Row>
ColumnSpec<Row> figureColumn(const char* title, std::optional<double> Row::* member) {
    return {.title = title, .numeric = true, .raw = [member](const Row& row) { return real(row.*member); },
            .text = [member](const Row& row) { return row.*member ? figure(*(row.*member)) : QString(); }};
}

// Errors span many orders of magnitude.
template <typename Row>
ColumnSpec<Row> smallColumn(const char* title, std::optional<double> Row::* member) {
    return {.title = title, .numeric = true, .raw = [member](const Row& row) { return real(row.*member); },
            .text = [member](const Row& row) { return row.*member ? QString::number(*(row.*member), 'g', 3) : QString(); }};
}

template <typename Row>
ColumnSpec<Row> lookColumn(const char* title, std::string Row::* member, StatusLook (*look)(const std::string&)) {
    return {.title = title, .raw = [member](const Row& row) { return QVariant(toQt(row.*member)); },
            .text = [=](const Row& row) { return look(row.*member).text; }, .tone = [=](const Row& row) { return look(row.*member).tone; },
            .icon = [=](const Row& row) { return look(row.*member).icon; }, .hint = [](const Row& row) { return toQt(row.reason); }};
}

}  // namespace

std::vector<ColumnSpec<SweepRow>> sweepColumns() {
    return {
        textColumn("Operator", &SweepRow::op), textColumn("Variant", &SweepRow::variant), textColumn("Type", &SweepRow::dtype),
        wholeColumn("Hidden", &SweepRow::hidden), wholeColumn("Rows", &SweepRow::rows), textColumn("Cache", &SweepRow::cache),
        lookColumn("Status", &SweepRow::status, statusLook),
        realColumn("Device µs", &SweepRow::deviceUs, 2, "", "One call on the device"),
        realColumn("Call µs", &SweepRow::callUs, 2, "", "One call with its launch"),
        realColumn("Speed-up", &SweepRow::speedup, 2, "x"),
        {.title = "95 % interval", .numeric = true, .raw = [](const SweepRow& row) { return real(row.speedupCiLow); },
         .text = [](const SweepRow& row) {
             return row.speedupCiLow && row.speedupCiHigh ? number(*row.speedupCiLow, 2) + " to " + number(*row.speedupCiHigh, 2) : QString();
         }},
        figureColumn("GB/s", &SweepRow::gbPerS), realColumn("Of limit", &SweepRow::limitPct, 0, " %", "Of what the device can do at this shape"),
        lookColumn("Verdict", &SweepRow::verdict, verdictLook), textColumn("Reason", &SweepRow::reason),
        textColumn("Measured on", &SweepRow::device),
    };
}

std::vector<ColumnSpec<ValidateRow>> validationColumns() {
    return {
        textColumn("Operator", &ValidateRow::op), textColumn("Variant", &ValidateRow::variant), textColumn("Type", &ValidateRow::dtype),
        wholeColumn("Hidden", &ValidateRow::hidden), wholeColumn("Rows", &ValidateRow::rows), textColumn("Case", &ValidateRow::caseName),
        lookColumn("Status", &ValidateRow::status, statusLook),
        smallColumn("Max error", &ValidateRow::maxAbsErr), smallColumn("Max ULP", &ValidateRow::maxUlp),
        smallColumn("Mean signed", &ValidateRow::meanSignedErr), smallColumn("Native's max error", &ValidateRow::nativeMaxAbsErr),
        smallColumn("Native's ULP", &ValidateRow::nativeMaxUlp), smallColumn("Error / native's", &ValidateRow::errRatio),
        textColumn("Worst at", &ValidateRow::worstIndex), textColumn("Reason", &ValidateRow::reason),
    };
}

}  // namespace kernelscope::ui
