// The charts of the report: SVG in the page, so that it opens anywhere and prints sharp.

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "core/client/compare.h"
#include "core/client/export_html.h"
#include "core/records/context_rows.h"
#include "core/records/format.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"

namespace kernelscope {

/// The type colours of the window, colour-blind safe.
std::string typeColour(const std::string& type) {
    static const std::map<std::string, std::string> colours{
        {"Attention", "#4477AA"}, {"MLP", "#228833"},      {"RMSNorm", "#EE6677"}, {"LM head", "#CCBB44"},
        {"Residual", "#AA3377"},  {"Embedding", "#66CCEE"}, {"Rotary", "#BBBBBB"}};
    const auto found = colours.find(type);
    return found == colours.end() ? "#888888" : found->second;
}

namespace {

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
    std::string text = fmt::format("<h2>Where the time goes: {}</h2>\n<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 900 {:.0f}\" width=\"100%\">\n", escapedHtml(phase),
                                   escapedHtml(sentence), height);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const ProfileRow& row = *bars[i].row;
        const double y = static_cast<double>(i) * kStep + 4, width = kWidth * bars[i].share / most;
        const std::string name = row.name.size() > 34 ? "..." + row.name.substr(row.name.size() - 31) : row.name;
        text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLabel - 10, y + 14, escapedHtml(name));
        text += fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" rx=\"2\" fill=\"{}\"/>", kLabel, y, std::max(width, 0.5), typeColour(row.type));
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

/// Ratios to the baseline on a logarithmic axis, with intervals and the line at 1; the largest changes first.
std::string ratioBars(const std::vector<CompareRow>& rows, const std::string& metric) {
    std::vector<const CompareRow*> bars;
    for (const CompareRow& row : rows)
        if (row.metric == metric && row.ratio && *row.ratio > 0 && std::isfinite(*row.ratio)) bars.push_back(&row);
    if (bars.empty()) return {};
    const std::size_t all = bars.size();
    std::stable_sort(bars.begin(), bars.end(), [](const CompareRow* a, const CompareRow* b) { return std::abs(std::log(*a->ratio)) > std::abs(std::log(*b->ratio)); });
    constexpr std::size_t kMost = 24;
    if (bars.size() > kMost) bars.resize(kMost);
    double reach = std::log(1.1);
    std::size_t faster = 0, slower = 0;
    for (const CompareRow* row : bars) {
        for (const double value : {*row->ratio, row->ratioCiLow.value_or(1), row->ratioCiHigh.value_or(1)})
            if (value > 0 && std::isfinite(value)) reach = std::max(reach, std::min(std::abs(std::log(value)), std::log(100.0)));
        faster += row->verdict == "faster";
        slower += row->verdict == "slower";
    }
    constexpr double kLabel = 300, kWidth = 420, kStep = 26;
    const auto x = [&](double ratio) { return kLabel + kWidth / 2 * (1 + std::clamp(std::log(ratio) / reach, -1.0, 1.0)); };
    const double height = static_cast<double>(bars.size()) * kStep + 28;
    std::string text = fmt::format("<h2>Ratio to the baseline: {}</h2>\n<p class=\"soft\">Above 1 the candidate is faster. Lines are 95 % intervals.{}</p>\n"
                                   "<svg role=\"img\" aria-label=\"{} rows: {} faster, {} slower; the largest change is {} at {}\" viewBox=\"0 0 900 {:.0f}\" width=\"100%\">\n",
                                   escapedHtml(metric), all > bars.size() ? fmt::format(" The {} largest changes of {}.", bars.size(), all) : "", bars.size(), faster, slower,
                                   formatRatio(*bars[0]->ratio), escapedHtml(bars[0]->key), height);
    text += fmt::format("<path class=\"line\" d=\"M{:.1f} 0V{:.1f}\"/><text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">1x</text>\n", x(1), height - 20, x(1), height - 6);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const CompareRow& row = *bars[i];
        const double y = static_cast<double>(i) * kStep + 4, end = x(*row.ratio);
        const std::string name = row.key.size() > 44 ? "..." + row.key.substr(row.key.size() - 41) : row.key;
        // The verdict stands in words too: colour only repeats it.
        const char* colour = row.verdict == "faster" ? "var(--good)" : row.verdict == "slower" ? "var(--bad)" : "var(--soft)";
        text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLabel - 10, y + 14, escapedHtml(name));
        text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" rx=\"2\" fill=\"{}\"/>", std::min(end, x(1)), y, std::max(std::abs(end - x(1)), 1.0), colour);
        double right = std::max(end, x(1));
        if (row.ratioCiLow && row.ratioCiHigh && *row.ratioCiLow > 0 && std::isfinite(*row.ratioCiHigh)) {
            text += fmt::format("<path class=\"error\" fill=\"none\" d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v8M{1:.1f} {3:.1f}v8\"/>", x(*row.ratioCiLow), x(*row.ratioCiHigh), y + 9, y + 5);
            right = std::max(right, x(*row.ratioCiHigh));
        }
        text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{} <tspan class=\"soft\">{}</tspan></text>\n", right + 8, y + 14, formatRatio(*row.ratio),
                            row.verdict == "cant_tell" ? "cannot tell" : escapedHtml(row.verdict));
    }
    return text + "</svg>\n";
}

std::string comparisonCharts(const std::vector<CompareRow>& rows) {
    std::vector<std::string> metrics;
    for (const CompareRow& row : rows)
        if (std::find(metrics.begin(), metrics.end(), row.metric) == metrics.end()) metrics.push_back(row.metric);
    std::string text;
    for (const std::string& metric : metrics) text += ratioBars(rows, metric);
    return text;
}

/// Native and patched side by side, one group a figure.
std::string endToEndBars(const std::vector<EndToEndRow>& rows) {
    struct Figure {
        const char* title;
        const char* unit;
        std::optional<double> EndToEndRow::* value;
    };
    constexpr Figure kFigures[] = {{"First token", "ms", &EndToEndRow::ttftMs}, {"Decode, a token", "ms", &EndToEndRow::decodeMsPerToken}, {"In all", "ms", &EndToEndRow::totalMs}};
    std::string text;
    for (const Figure& figure : kFigures) {
        double most = 0;
        for (const EndToEndRow& row : rows) most = std::max(most, (row.*figure.value).value_or(0));
        if (!(most > 0) || !std::isfinite(most)) continue;
        constexpr double kLabel = 180, kWidth = 520, kStep = 26;
        std::string bars, sentence;
        double y = 4;
        for (const EndToEndRow& row : rows) {
            const auto value = row.*figure.value;
            if (!value || !std::isfinite(*value)) continue;
            const std::string name = row.configuration + ", " + row.mode;
            sentence += fmt::format("{}{} {} {}", sentence.empty() ? "" : ", ", name, formatSignificant(*value, 4), figure.unit);
            bars += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text><rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"18\" rx=\"2\" fill=\"{}\"/>"
                                "<text x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>\n",
                                kLabel - 10, y + 14, escapedHtml(name), kLabel, y, std::max(0.5, kWidth * *value / most), row.configuration == "native" ? "var(--soft)" : "var(--accent)",
                                kLabel + kWidth * *value / most + 8, y + 14, formatSignificant(*value, 4), figure.unit);
            y += kStep;
        }
        text += fmt::format("<h2>{}</h2>\n<svg role=\"img\" aria-label=\"{}: {}\" viewBox=\"0 0 900 {:.0f}\" width=\"100%\">\n{}</svg>\n", figure.title, figure.title, escapedHtml(sentence), y + 4, bars);
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

}  // namespace

std::string reportCharts(const RunHeader& header, std::span<const RowRecord> records, std::span<const RowRecord> shares) {
    if (header.kind == RowSchema<ProfileRow>::kName) {
        const auto rows = typed<ProfileRow>(records);
        return shareBars(rows, "decode") + shareBars(rows, "prefill");
    }
    if (header.kind == RowSchema<SweepRow>::kName) return speedupCharts(typed<SweepRow>(records));
    if (header.kind == RowSchema<ContextRow>::kName) return contextCharts(typed<ContextRow>(records)) + contextShares(typed<ContextShareRow>(shares));
    if (header.kind == RowSchema<EndToEndRow>::kName) return endToEndBars(typed<EndToEndRow>(records));
    if (header.kind == RowSchema<CompareRow>::kName) return comparisonCharts(typed<CompareRow>(records));
    return {};
}

}  // namespace kernelscope
