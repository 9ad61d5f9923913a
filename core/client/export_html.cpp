#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "core/client/export.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"

namespace kernelscope {

namespace {

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += c;
        }
    }
    return safe;
}

/// The type colours of the window, colour-blind safe.
std::string colourOf(const std::string& type) {
    static const std::map<std::string, std::string> colours{
        {"Attention", "#4477AA"}, {"MLP", "#228833"},      {"RMSNorm", "#EE6677"}, {"LM head", "#CCBB44"},
        {"Residual", "#AA3377"},  {"Embedding", "#66CCEE"}, {"Rotary", "#BBBBBB"}};
    const auto found = colours.find(type);
    return found == colours.end() ? "#888888" : found->second;
}

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5b6472; --line: #d9dde3; --page: #ffffff; --band: #f4f6f8; --accent: #2563a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3abb6; --line: #3a404a; --page: #1b1e23; --band: #23272e; --accent: #7fb2e5; } }
@media print { :root { --ink: #000; --soft: #333; --line: #999; --page: #fff; --band: #fff; } table { page-break-inside: auto; } tr { page-break-inside: avoid; } .wide { overflow: visible; } }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 Inter, system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.headline { font-size: 1.15rem; margin: .5rem 0 1.5rem; } .soft { color: var(--soft); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; } .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; } th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } .n { text-align: right; } tr:nth-child(even) td { background: var(--band); }
svg text { fill: var(--ink); font-size: 12px; } svg .soft { fill: var(--soft); } svg .line { stroke: var(--line); } svg .error { stroke: var(--ink); }
)";

/// Horizontal bars with intervals: the shares of a profile.
std::string shareBars(const std::vector<ProfileRow>& rows, const std::string& phase) {
    struct Bar {
        const ProfileRow* row;
        double share;
    };
    std::vector<Bar> bars;
    for (const ProfileRow& row : rows)
        if (row.phase == phase && row.name != "total" && row.name != "profiler tax" && row.spanSharePct.value_or(row.gpuSharePct.value_or(-1)) >= 0)
            bars.push_back({&row, row.spanSharePct.value_or(row.gpuSharePct.value_or(0))});
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.share > b.share; });
    constexpr std::size_t kMost = 24;  // more bars than that are a table
    if (bars.size() > kMost) bars.resize(kMost);
    if (bars.empty()) return {};
    const double most = std::max(1.0, bars.front().share);
    constexpr double kLabel = 230, kWidth = 520, kStep = 26;
    const double height = static_cast<double>(bars.size()) * kStep + 8;
    std::string sentence = fmt::format("{}: {} takes {}", phase, bars[0].row->name, formatPercent(bars[0].share));
    if (bars.size() > 1) sentence += fmt::format(", then {} {}", bars[1].row->name, formatPercent(bars[1].share));
    std::string text = fmt::format("<h2>Where the time goes: {}</h2>\n<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 900 {:.0f}\" width=\"100%\">\n", escaped(phase),
                                   escaped(sentence), height);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const ProfileRow& row = *bars[i].row;
        const double y = static_cast<double>(i) * kStep + 4, width = kWidth * bars[i].share / most;
        const std::string name = row.name.size() > 34 ? "..." + row.name.substr(row.name.size() - 31) : row.name;
        text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLabel - 10, y + 14, escaped(name));
        text += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" rx=\"2\" fill=\"{}\"/>", kLabel, y, std::max(width, 0.5), colourOf(row.type));
        double end = width;
        if (row.spanShareCiLowPct && row.spanShareCiHighPct) {
            const double low = kLabel + kWidth * *row.spanShareCiLowPct / most, high = kLabel + kWidth * *row.spanShareCiHighPct / most;
            text += fmt::format("<path class=\"error\" fill=\"none\" d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v8M{1:.1f} {3:.1f}v8\"/>", low, high, y + 9, y + 5);
            end = std::max(end, high - kLabel);
        }
        text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}", kLabel + end + 8, y + 14, formatPercent(bars[i].share));
        if (row.gpuSharePct && row.spanSharePct) text += fmt::format(" <tspan class=\"soft\">(gpu {})</tspan>", formatPercent(*row.gpuSharePct));
        text += "</text>\n";
    }
    return text + "</svg>\n";
}

/// Speed-up against rows, one line per variant and hidden size, the interval as a band, the line at 1.
std::string speedupLines(const std::vector<SweepRow>& rows) {
    std::map<std::string, std::map<std::string, std::vector<const SweepRow*>>> charts;
    for (const SweepRow& row : rows)
        if (row.speedup && std::isfinite(*row.speedup) && *row.speedup > 0 && row.rows > 0)
            charts[row.op + ", " + row.dtype + ", " + row.cache][row.variant + " " + std::to_string(row.hidden)].push_back(&row);
    static constexpr const char* kColours[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB"};
    constexpr double kLeft = 50, kWidth = 600, kHeight = 260, kTop = 10;
    std::string text;
    for (auto& [title, lines] : charts) {
        double most = 1.2, left = 1e18, right = 0;
        for (auto& [name, points] : lines) {
            std::sort(points.begin(), points.end(), [](const SweepRow* a, const SweepRow* b) { return a->rows < b->rows; });
            for (const SweepRow* row : points) {
                most = std::max(most, std::min(1e6, row->speedupCiHigh.value_or(*row->speedup)));
                left = std::min(left, std::log2(static_cast<double>(row->rows)));
                right = std::max(right, std::log2(static_cast<double>(row->rows)));
            }
        }
        const auto x = [&](std::int64_t count) { return right > left ? kLeft + kWidth * (std::log2(static_cast<double>(count)) - left) / (right - left) : kLeft + kWidth / 2; };
        const auto y = [&](double speedup) { return kTop + kHeight * (1 - std::clamp(speedup / (most * 1.05), 0.0, 1.0)); };
        text += fmt::format("<h2>Speed-up over rows: {}</h2>\n<svg role=\"img\" aria-label=\"Speed-up of {} lines over the number of rows\" viewBox=\"0 0 900 310\" width=\"100%\">\n",
                            escaped(title), lines.size());
        text += fmt::format("<path class=\"line\" d=\"M{0} {1:.1f}h{2}\" stroke-dasharray=\"4 3\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">1x</text>", kLeft, y(1), kWidth,
                            kLeft - 6, y(1) + 4);
        text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6, y(most) + 4, formatRatio(most));
        std::map<std::int64_t, bool> ticks;
        std::size_t index = 0;
        for (const auto& [name, points] : lines) {
            const char* colour = kColours[index % std::size(kColours)];
            std::string path, upper, lower;
            for (const SweepRow* row : points) {
                path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(row->rows), y(*row->speedup));
                upper += fmt::format("{}{:.1f} {:.1f}", upper.empty() ? "M" : "L", x(row->rows), y(row->speedupCiHigh.value_or(*row->speedup)));
                lower = fmt::format("L{:.1f} {:.1f}", x(row->rows), y(row->speedupCiLow.value_or(*row->speedup))) + lower;
                ticks[row->rows] = true;
            }
            text += fmt::format("<path d=\"{}{}Z\" fill=\"{}\" opacity=\".18\"/><path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>", upper, lower, colour, path, colour);
            for (const SweepRow* row : points) text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>", x(row->rows), y(*row->speedup), colour);
            text += fmt::format("<rect x=\"680\" y=\"{:.0f}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"698\" y=\"{:.0f}\">{}</text>\n", kTop + static_cast<double>(index) * 20,
                                colour, kTop + 11 + static_cast<double>(index) * 20, escaped(name));
            ++index;
        }
        for (const auto& [tick, used] : ticks)
            text += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x(tick), kTop + kHeight + 18, tick);
        text += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">rows</text></svg>\n", kLeft + kWidth / 2, kTop + kHeight + 36);
    }
    return text;
}

template <typename Row>
std::vector<Row> typed(std::span<const RowRecord> records) {
    std::vector<Row> rows;
    for (const RowRecord& record : records)
        if (auto row = rowFrom<Row>(record.values)) rows.push_back(std::move(*row));
    return rows;
}

std::string charts(const RunHeader& header, std::span<const RowRecord> records) {
    if (header.kind == RowSchema<ProfileRow>::kName) {
        const auto rows = typed<ProfileRow>(records);
        return shareBars(rows, "decode") + shareBars(rows, "prefill");
    }
    if (header.kind == RowSchema<SweepRow>::kName) return speedupLines(typed<SweepRow>(records));
    return {};
}

std::string table(const RowType& type, std::span<const RowRecord> rows) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < type.columns.size(); ++i)
        if (std::any_of(rows.begin(), rows.end(), [&](const RowRecord& row) { return !cellText(row.values[i]).empty(); })) shown.push_back(i);
    if (shown.empty()) return "<p class=\"soft\">No rows were measured.</p>\n";
    std::string text = "<h2>Rows</h2>\n<div class=\"wide\"><table><thead><tr>";
    const auto kindClass = [&](std::size_t i) { return type.columns[i].kind == ColumnKind::text ? "" : " class=\"n\""; };
    for (const std::size_t i : shown) text += fmt::format("<th{}>{}</th>", kindClass(i), escaped(type.columns[i].name));
    text += "</tr></thead><tbody>\n";
    for (const RowRecord& row : rows) {
        text += "<tr>";
        for (const std::size_t i : shown) {
            const double* number = std::get_if<double>(&row.values[i]);
            text += fmt::format("<td{}>{}</td>", kindClass(i), escaped(number ? formatSignificant(*number, 4) : cellText(row.values[i])));
        }
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

}  // namespace

std::string htmlDocument(const RunSummary& run, const RowType& type, std::span<const RowRecord> rows) {
    const RunHeader& header = run.header;
    const std::string title = header.kind + ": " + header.model;
    std::string text = fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style></head><body>\n",
                                   escaped(title), kStyle);
    text += fmt::format("<h1>{}</h1>\n<p class=\"headline\">{}</p>\n", escaped(title), escaped(header.headline));
    text += charts(header, rows) + table(type, rows);
    text += "<h2>How it was made</h2>\n<dl class=\"facts\">\n";
    const auto fact = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), value);
    };
    fact("Model", escaped(header.model) + (header.weights == "random" ? " (random weights)" : ""));
    fact("Device", escaped(header.device));
    fact("Type", escaped(header.dtype));
    fact("Status", escaped(std::string(toString(header.status)) + (header.reason.empty() ? "" : ": " + header.reason)));
    fact("When", escaped(header.when));
    fact("Run", escaped(header.id));
    fact("Command", "<code>" + escaped(header.command) + "</code>");
    fact("Seed", std::to_string(header.seed));
    fact("Settings", "<code>" + escaped(dumpJson(header.settings)) + "</code>");
    for (const auto& [key, value] : header.environment.items()) fact(key, escaped(value.is_string() ? value.get<std::string>() : dumpJson(value)));
    fact("Note", escaped(run.note));
    return text + "</dl>\n</body></html>\n";
}

}  // namespace kernelscope
