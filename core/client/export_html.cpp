#include <algorithm>

#include <fmt/core.h>

#include "core/client/export.h"
#include "core/client/export_html.h"
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
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5b6472; --line: #d9dde3; --page: #ffffff; --band: #f4f6f8; --accent: #2563a8; --good: #1f7a3d; --bad: #b3362b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3abb6; --line: #3a404a; --page: #1b1e23; --band: #23272e; --accent: #7fb2e5; --good: #6cc487; --bad: #f08a7e; } }
@media print { :root { --ink: #000; --soft: #333; --line: #999; --page: #fff; --band: #fff; } table { page-break-inside: auto; } tr { page-break-inside: avoid; } .wide { overflow: visible; } table { font-size: 9px; } td, th { white-space: normal; } svg { page-break-inside: avoid; } h2 { page-break-after: avoid; } }
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


std::string table(const RowType& type, std::span<const RowRecord> rows) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < type.columns.size(); ++i)
        if (std::any_of(rows.begin(), rows.end(), [&](const RowRecord& row) { return !cellText(row.values[i]).empty(); })) shown.push_back(i);
    if (shown.empty()) return "<p class=\"soft\">No rows were measured.</p>\n";
    std::string text = "<h2>Rows</h2>\n<div class=\"wide\"><table><thead><tr>";
    const auto kindClass = [&](std::size_t i) { return type.columns[i].kind == ColumnKind::text ? "" : " class=\"n\""; };
    for (const std::size_t i : shown) text += fmt::format("<th{}>{}</th>", kindClass(i), escapedHtml(type.columns[i].name));
    text += "</tr></thead><tbody>\n";
    for (const RowRecord& row : rows) {
        text += "<tr>";
        for (const std::size_t i : shown) {
            const double* number = std::get_if<double>(&row.values[i]);
            text += fmt::format("<td{}>{}</td>", kindClass(i), escapedHtml(number ? formatSignificant(*number, 4) : cellText(row.values[i])));
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
                                   escapedHtml(title), kStyle);
    text += fmt::format("<h1>{}</h1>\n<p class=\"headline\">{}</p>\n", escapedHtml(title), escapedHtml(header.headline));
    text += reportCharts(header, rows) + table(type, rows);
    text += "<h2>How it was made</h2>\n<dl class=\"facts\">\n";
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
    return text + "</dl>\n</body></html>\n";
}

}  // namespace kernelscope
