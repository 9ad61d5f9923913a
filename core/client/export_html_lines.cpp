// Line charts of the report: a sweep's speed-ups over rows, a context run's times and shares.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/core.h>

#include "core/client/export_html.h"
#include "core/records/context_rows.h"
#include "core/records/format.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

namespace {

struct Point {
    double x = 0, y = 0;
    std::optional<double> low, high;
};

struct Line {
    std::string name;
    std::vector<Point> points;
};

struct LineChart {
    std::string title, sentence, xLabel;
    std::vector<Line> lines;
    std::function<std::string(double)> format;  ///< of a value at the y axis
    double most = 0;                            ///< charts beside each other share it
    std::optional<double> mark;                 ///< a line to hold the others against
};

/// A round step that divides `most` into four parts or so.
double stepFor(double most) {
    const double power = std::pow(10, std::floor(std::log10(most / 4)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (most / (factor * power) <= 5) return factor * power;
    return 10 * power;
}

std::string tickText(double x) { return x >= 1024 && std::fmod(x, 1024) == 0 ? fmt::format("{:g}k", x / 1024) : fmt::format("{:g}", x); }

/// The x axis is logarithmic to the base of two. Lines are told apart by shade, dashes and the order of the legend.
std::string drawn(const LineChart& chart) {
    constexpr double kLeft = 52, kWidth = 290, kTop = 12, kHeight = 220;
    constexpr std::size_t kShades = 7;
    double first = 1e18, last = 0;
    std::map<double, bool> ticks;
    for (const Line& line : chart.lines)
        for (const Point& point : line.points) {
            first = std::min(first, std::log2(point.x));
            last = std::max(last, std::log2(point.x));
            ticks[point.x] = true;
        }
    const double most = chart.most * 1.05;
    const auto x = [&](double value) { return last > first ? kLeft + kWidth * (std::log2(value) - first) / (last - first) : kLeft + kWidth / 2; };
    const auto y = [&](double value) { return kTop + kHeight * (1 - std::clamp(value / most, 0.0, 1.0)); };
    std::string text = fmt::format("<figure><figcaption>{}</figcaption>\n<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 440 280\" width=\"440\">\n", escapedHtml(chart.title), escapedHtml(chart.sentence));
    for (double value = 0; value <= most; value += stepFor(most))
        text += fmt::format("<path class=\"line\" d=\"M{} {:.1f}h{}\"/><text class=\"soft\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft, y(value), kWidth, kLeft - 6, y(value) + 4,
                            escapedHtml(chart.format(value)));
    if (chart.mark) text += fmt::format("<path d=\"M{} {:.1f}h{}\" stroke=\"var(--ink)\" stroke-dasharray=\"2 3\"/>", kLeft, y(*chart.mark), kWidth);
    // Labels that would lie on each other are left out.
    double free = -1e9;
    for (const auto& [tick, used] : ticks) {
        const std::string words = tickText(tick);
        const double half = 4.0 * static_cast<double>(words.size());
        if (x(tick) - half < free) continue;
        free = x(tick) + half + 4;
        text += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x(tick), kTop + kHeight + 18, words);
    }
    text += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kLeft + kWidth / 2, kTop + kHeight + 38, escapedHtml(chart.xLabel));
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
        const Line& line = chart.lines[i];
        const std::size_t shade = chart.lines.size() < 2 ? kShades / 2 : i * (kShades - 1) / (chart.lines.size() - 1);
        const char* dashes = i % 2 == 1 ? " stroke-dasharray=\"6 3\"" : "";
        std::string path, upper, lower;
        for (const Point& point : line.points) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(point.x), y(point.y));
            upper += fmt::format("{}{:.1f} {:.1f}", upper.empty() ? "M" : "L", x(point.x), y(point.high.value_or(point.y)));
            lower = fmt::format("L{:.1f} {:.1f}", x(point.x), y(point.low.value_or(point.y))) + lower;
        }
        text += fmt::format("<path d=\"{}{}Z\" fill=\"var(--l{})\" opacity=\".18\"/><path d=\"{}\" fill=\"none\" stroke=\"var(--l{})\" stroke-width=\"2\"{}/>", upper, lower, shade, path, shade, dashes);
        for (const Point& point : line.points) text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"var(--l{})\"/>", x(point.x), y(point.y), shade);
        const double row = kTop + 6 + static_cast<double>(i) * std::min(18.0, 250.0 / static_cast<double>(chart.lines.size()));
        text += fmt::format("<path d=\"M356 {:.1f}h22\" stroke=\"var(--l{})\" stroke-width=\"2.5\"{}/><text x=\"384\" y=\"{:.1f}\">{}</text>\n", row, shade, dashes, row + 4, escapedHtml(line.name));
    }
    return text + "</svg></figure>\n";
}

double topOf(const std::vector<Line>& lines) {
    double most = 0;
    for (const Line& line : lines)
        for (const Point& point : line.points) most = std::max(most, std::min(1e6, point.high && std::isfinite(*point.high) ? *point.high : point.y));
    return most;
}

}  // namespace

/// A chart a variant, a line a hidden size; variants of one operator, type and cache state beside each other on one scale.
std::string speedupCharts(std::span<const SweepRow> rows) {
    std::map<std::string, std::map<std::string, std::map<std::int64_t, Line>>> groups;
    for (const SweepRow& row : rows) {
        if (!row.speedup || !std::isfinite(*row.speedup) || *row.speedup <= 0 || row.rows <= 0 || row.variant == "native") continue;
        Line& line = groups[row.op + ", " + row.dtype + ", " + row.cache][row.variant][row.hidden];
        line.name = std::to_string(row.hidden);
        line.points.push_back({static_cast<double>(row.rows), *row.speedup, row.speedupCiLow, row.speedupCiHigh});
    }
    std::string text;
    for (auto& [title, variants] : groups) {
        double most = 1.2;
        std::vector<LineChart> charts;
        for (auto& [variant, lines] : variants) {
            LineChart chart{variant, {}, "rows; a line a hidden size", {}, [](double value) { return fmt::format("{:g}x", value); }, 0, 1.0};
            double least = 1e18, best = 0;
            for (auto& [hidden, line] : lines) {
                std::sort(line.points.begin(), line.points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
                for (const Point& point : line.points) {
                    least = std::min(least, point.y);
                    best = std::max(best, point.y);
                }
                chart.lines.push_back(std::move(line));
            }
            most = std::max(most, topOf(chart.lines));
            chart.sentence = fmt::format("{}, {}: from {} to {} the baseline over {} hidden sizes", title, variant, formatRatio(least), formatRatio(best), chart.lines.size());
            charts.push_back(std::move(chart));
        }
        text += fmt::format("<h2>Speed-up over rows: {}</h2>\n<p class=\"soft\">Times the baseline, above 1 is faster; bands are 95 % intervals.</p>\n<div class=\"panels\">\n", escapedHtml(title));
        for (LineChart& chart : charts) {
            chart.most = most;
            text += drawn(chart);
        }
        text += "</div>\n";
    }
    return text;
}

std::string contextCharts(std::span<const ContextRow> rows) {
    std::map<std::int64_t, Line> times, memory;
    for (const ContextRow& row : rows) {
        if (row.contextTokens <= 0) continue;
        const auto add = [&](std::map<std::int64_t, Line>& lines, const Point& point) {
            lines[row.batch].name = fmt::format("batch {}", row.batch);
            lines[row.batch].points.push_back(point);
        };
        const double tokens = static_cast<double>(row.contextTokens);
        if (row.decodeMsPerToken && std::isfinite(*row.decodeMsPerToken)) add(times, {tokens, *row.decodeMsPerToken, row.decodeCiLowMs, row.decodeCiHighMs});
        if (row.peakMemoryBytes) add(memory, {tokens, static_cast<double>(*row.peakMemoryBytes) / (1 << 30), {}, {}});
    }
    std::string text;
    for (auto& [title, unit, lines] : {std::tuple{"Decode, a token", "ms", &times}, {"Peak memory", "GiB", &memory}}) {
        LineChart chart{fmt::format("{}, {}", title, unit), {}, "tokens in the context", {}, [](double value) { return fmt::format("{:g}", value); }, 0, {}};
        for (auto& [batch, line] : *lines) {
            std::sort(line.points.begin(), line.points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
            chart.sentence += fmt::format("{}{}: {} {} at {:g} tokens, {} at {:g}", chart.sentence.empty() ? std::string(title) + ": " : "; ", line.name, formatSignificant(line.points.front().y), unit,
                                          line.points.front().x, formatSignificant(line.points.back().y), line.points.back().x);
            chart.lines.push_back(std::move(line));
        }
        chart.most = topOf(chart.lines);
        if (chart.most > 0) text += drawn(chart);
    }
    return text.empty() ? text : "<h2>Against the length of the context</h2>\n<div class=\"panels\">\n" + text + "</div>\n";
}

/// One bar a point, its parts in the types' colours; a batch after the other.
std::string contextShares(std::span<const ContextShareRow> rows) {
    std::map<std::int64_t, std::map<std::int64_t, std::vector<const ContextShareRow*>>> batches;
    for (const ContextShareRow& row : rows)
        if (row.spanSharePct && *row.spanSharePct > 0) batches[row.batch][row.contextTokens].push_back(&row);
    constexpr double kLabel = 120, kWidth = 700, kStep = 28;
    std::string text;
    for (const auto& [batch, points] : batches) {
        double y = 4;
        std::string bars, sentence;
        for (const auto& [tokens, parts] : points) {
            double left = kLabel;
            std::string words;
            bars += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} tokens</text>", kLabel - 10, y + 15, formatCount(tokens));
            for (const ContextShareRow* part : parts) {
                const double width = kWidth * *part->spanSharePct / 100;
                bars += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"20\" fill=\"{}\"/>", left, y, std::max(0.3, width), typeColour(part->type));
                const std::string label = part->type + " " + formatPercent(*part->spanSharePct, 0);
                if (width > 7.0 * static_cast<double>(label.size())) bars += fmt::format("<text style=\"fill:{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", part->type == "Attention" || part->type == "MLP" || part->type == "Residual" ? "#fff" : "#000", left + width / 2, y + 14.5, escapedHtml(label));
                if (*part->spanSharePct >= 1) words += (words.empty() ? "" : ", ") + label;
                left += width;
            }
            bars += "\n";
            sentence += fmt::format("{}{} tokens: {}", sentence.empty() ? "" : "; ", tokens, words);
            y += kStep;
        }
        text += fmt::format("<h2>Where a step's time goes: batch {}</h2>\n<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 900 {:.0f}\" width=\"100%\">\n{}</svg>\n", batch, escapedHtml(sentence), y + 2, bars);
        std::vector<std::string> types;
        for (const ContextShareRow* part : points.begin()->second)
            if (std::find(types.begin(), types.end(), part->type) == types.end()) types.push_back(part->type);
        text += "<p class=\"keys\">";
        for (const std::string& type : types) text += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", typeColour(type), escapedHtml(type));
        text += "</p>\n";
    }
    return text;
}

}  // namespace kernelscope
