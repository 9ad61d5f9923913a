#include <fmt/core.h>

#include "core/client/export_html.h"
#include "core/client/export_pieces.h"
#include "core/records/csv.h"
#include "core/records/format.h"
#include "core/records/json_read.h"

namespace kernelscope {

std::string escapedHtml(std::string_view text) {
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

namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5b6472; --line: #d9dde3; --page: #ffffff; --band: #f4f6f8; --accent: #2563a8; --good: #1f7a3d; --bad: #b3362b;
  --l0: #4f8fd0; --l1: #3f7dbf; --l2: #316aab; --l3: #255795; --l4: #1b457d; --l5: #123464; --l6: #0b244a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3abb6; --line: #3a404a; --page: #1b1e23; --band: #23272e; --accent: #7fb2e5; --good: #6cc487; --bad: #f08a7e;
  --l0: #3d7cc0; --l1: #4f8dd0; --l2: #659edd; --l3: #80b0e6; --l4: #9bc3ee; --l5: #b8d6f5; --l6: #d8e9fb; } }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 Inter, system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.headline { font-size: 1.15rem; margin: .5rem 0 1.5rem; } .soft { color: var(--soft); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; } .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; } th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } .n { text-align: right; } tr:nth-child(even) td { background: var(--band); }
svg text { fill: var(--ink); font-size: 12px; } svg .soft { fill: var(--soft); } svg .line { stroke: var(--line); } svg .error { stroke: var(--ink); }
svg .bar { stroke: var(--ink); stroke-opacity: .5; stroke-width: .75; } svg { max-width: 100%; }
.panels { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: 0; } figcaption { font-weight: 600; margin-left: 52px; }
.keys { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: .3rem 0 0 120px; font-size: 12px; } .keys i { display: inline-block; width: 10px; height: 10px; margin-right: .35rem; border: 1px solid var(--soft); }
td.w { white-space: normal; min-width: 14rem; }
/* last, so that it wins over what screens get */
@page { size: landscape; margin: 12mm; }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #333; --line: #999; --page: #fff; --band: #fff; --accent: #2563a8; --good: #1f7a3d; --bad: #b3362b;
    --l0: #4f8fd0; --l1: #3f7dbf; --l2: #316aab; --l3: #255795; --l4: #1b457d; --l5: #123464; --l6: #0b244a; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 11px; } .wide { overflow: visible; } table { font-size: 8px; width: 100%; } th, td { white-space: normal; padding: .15rem .3rem; } td.w { min-width: 0; }
  tr, svg, figure { page-break-inside: avoid; } h2, h2 + p { page-break-after: avoid; } h2 { margin-top: 1rem; } .panels figure { width: 48%; } .panels svg { width: 100%; } code { font-size: 10px; } .facts { gap: .1rem 1rem; }
}
)";


/// A long name may break after an underscore.
std::string breakable(const std::string& text) {
    std::string parts;
    for (const char c : text) {
        parts += c;
        if (c == '_') parts += "<wbr>";
    }
    return parts;
}

/// A browser lays out that many rows in a moment; ten times as many take it tens of seconds.
constexpr std::int64_t kMostTableRows = 10'000;
/// As the window has it: 80 MiB as records, and more points than any chart shows.
constexpr std::int64_t kMostChartedRows = 50'000;

Result<void> addTable(PieceWriter& out, const RunHeader& header, const RowType& type, const RowPages& rows) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < type.columns.size(); ++i)
        if (rows.filled[i]) shown.push_back(i);
    if (shown.empty()) return out.add("<p class=\"soft\">No rows were measured.</p>\n");
    std::string text = "<h2>Rows</h2>\n";
    if (rows.count > kMostTableRows)
        text += fmt::format("<p class=\"soft\">The first {} of {} rows. All of them: <code>kernelscope-cli runs export {} --format csv</code></p>\n", formatCount(kMostTableRows), formatCount(rows.count),
                            escapedHtml(header.id));
    text += "<div class=\"wide\"><table><thead><tr>";
    const auto kindClass = [&](std::size_t i) { return type.columns[i].kind != ColumnKind::text ? " class=\"n\"" : type.columns[i].name == "reason" ? " class=\"w\"" : ""; };
    for (const std::size_t i : shown) text += fmt::format("<th{}>{}</th>", kindClass(i), breakable(escapedHtml(type.columns[i].name)));
    if (const auto begun = out.add(text + "</tr></thead><tbody>\n"); !begun) return begun;
    const auto written = firstRows(rows, kMostTableRows, [&](const RowRecord& row) {
        std::string line = "<tr>";
        for (const std::size_t i : shown) {
            const double* number = std::get_if<double>(&row.values[i]);
            line += fmt::format("<td{}>{}</td>", kindClass(i), escapedHtml(number ? formatSignificant(*number, 4) : cellText(row.values[i])));
        }
        return out.add(line + "</tr>\n");
    });
    return written ? out.add("</tbody></table></div>\n") : written;
}

Result<void> addCharts(PieceWriter& out, const RunHeader& header, const RowPages& rows, std::span<const RowRecord> shares) {
    if (rows.count > kMostChartedRows) return out.add(fmt::format("<p class=\"soft\">{} rows are more than charts take in.</p>\n", formatCount(rows.count)));
    std::vector<RowRecord> all;
    const auto read = firstRows(rows, -1, [&](const RowRecord& row) -> Result<void> { all.push_back(row); return {}; });
    return read ? out.add(reportCharts(header, all, shares)) : read;
}

}  // namespace

Result<void> htmlDocument(const RunSummary& run, const RowType& type, const RowPages& rows, std::span<const RowRecord> shares, const TextSink& sink) {
    const RunHeader& header = run.header;
    const std::string title = documentTitle(header);
    std::string facts;
    for (const std::string& fact : {header.weights == "random" ? std::string("random weights") : std::string(), header.device, header.dtype, header.when})
        if (!fact.empty()) facts += (facts.empty() ? "" : " · ") + fact;
    std::string text = fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style></head><body>\n",
                                   escapedHtml(title), kStyle);
    text += fmt::format("<h1>{}</h1>\n<p class=\"soft\">{}</p>\n<p class=\"headline\">{}</p>\n", escapedHtml(title), escapedHtml(facts), escapedHtml(header.headline));
    PieceWriter out(sink);
    if (const auto begun = out.add(text); !begun) return begun;
    if (const auto charts = addCharts(out, header, rows, shares); !charts) return charts;
    if (const auto table = addTable(out, header, type, rows); !table) return table;
    text = "<h2>How it was made</h2>\n<dl class=\"facts\">\n";
    const auto fact = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escapedHtml(name), value);
    };
    fact("Model", escapedHtml(header.model) + (header.weights == "random" ? " (random weights)" : ""));
    fact("Device", escapedHtml(header.device));
    fact("Type", escapedHtml(header.dtype));
    fact("Status", escapedHtml(std::string(toString(header.status)) + (header.reason.empty() ? "" : ": " + header.reason)));
    fact("When", escapedHtml(header.when));
    fact("Run", escapedHtml(header.id));
    fact("Command", "<code>" + escapedHtml(header.command) + "</code>");
    fact("Seed", std::to_string(header.seed));
    fact("Settings", "<code>" + escapedHtml(dumpJson(header.settings)) + "</code>");
    for (const auto& [key, value] : header.environment.items()) fact(key, escapedHtml(value.is_string() ? value.get<std::string>() : dumpJson(value)));
    fact("Note", escapedHtml(run.note));
    if (const auto runs = header.result.find("runs"); runs != header.result.end() && runs->is_array())
        for (const auto& each : *runs)
            fact(&each == &runs->front() ? "Baseline" : "Candidate", fmt::format("{}, {}, {} on {}<br><code>{}</code>", escapedHtml(each.value("id", "")), escapedHtml(each.value("when", "")),
                                                                             escapedHtml(each.value("model", "")), escapedHtml(each.value("device", "")), escapedHtml(each.value("command", ""))));
    if (const auto ended = out.add(text + "</dl>\n</body></html>\n"); !ended) return ended;
    return out.flush();
}

}  // namespace kernelscope
