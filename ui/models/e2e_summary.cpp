#include "ui/models/e2e_summary.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/records/row_key.h"
#include "ui/models/kernel_summary.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace kernelscope::ui {
namespace {

const EndToEndRow* lastPatched(std::span<const EndToEndRow> rows) {
    const EndToEndRow* found = nullptr;
    for (const EndToEndRow& row : rows) {
        if (row.configuration == "patched" && row.speedup) found = &row;
    }
    return found;
}

QString label(const EndToEndRow& row, bool both) {
    const QString name = row.configuration == "patched" ? "Patched" : "Native";
    return both ? name + " " + toQt(row.mode) : name;
}

bool hasBothModes(std::span<const EndToEndRow> rows) {
    for (const EndToEndRow& row : rows) {
        if (row.mode != rows.front().mode) return true;
    }
    return false;
}

QString percent(double value) { return number(value, 1) + " %"; }

// The module type that an operator's time counts to: its colour in every chart.
QColor operatorColor(const std::string& op) {
    if (op == "rms_norm" || op == "add_rms_norm") return op == "rms_norm" ? typeColor("RMSNorm") : typeColor("Residual");
    if (op == "silu_mul") return typeColor("MLP");
    if (op == "rope") return typeColor("Rotary");
    return {};
}

// Per cent of the native time that each operator's replacement takes away, its phases added up, in the order of the ledger.
std::vector<std::pair<std::string, double>> contributions(const nlohmann::json& result, const std::string& mode, const char* clock) {
    std::vector<std::pair<std::string, double>> sums;
    const nlohmann::json none = nlohmann::json::object();
    const auto at = [&](const nlohmann::json& from, const std::string& key) -> const nlohmann::json& {
        return from.is_object() && from.contains(key) ? from.at(key) : none;
    };
    for (const auto& phase : at(at(at(result, "ledger"), mode), "phases")) {
        for (const auto& entry : at(phase, "operators")) {
            const auto& op = at(entry, "op");
            const auto& removed = at(entry, clock);
            if (!op.is_string() || !removed.is_number()) continue;
            const auto found = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == op; });
            if (found == sums.end()) sums.emplace_back(op.get<std::string>(), removed.get<double>());
            else found->second += removed.get<double>();
        }
    }
    return sums;
}

ColumnSpec<EndToEndRow> figureColumn(const char* title, std::optional<double> EndToEndRow::* member, int decimals, const char* suffix = "") {
    return {.title = title, .numeric = true,
            .raw = [member](const EndToEndRow& row) { return row.*member ? QVariant(*(row.*member)) : QVariant(); },
            .text = [=](const EndToEndRow& row) { return row.*member ? number(*(row.*member), decimals) + suffix : QString(); }};
}

}  // namespace

std::vector<ColumnSpec<EndToEndRow>> endToEndColumns() {
    using Row = const EndToEndRow&;
    return {
        {.title = "Configuration", .raw = [](Row row) { return QVariant(toQt(row.configuration)); }},
        {.title = "Mode", .raw = [](Row row) { return QVariant(toQt(row.mode)); }},
        {.title = "Status", .raw = [](Row row) { return QVariant(toQt(row.status)); }, .text = [](Row row) { return statusLook(row.status).text; },
         .tone = [](Row row) { return statusLook(row.status).tone; }, .icon = [](Row row) { return statusLook(row.status).icon; }},
        figureColumn("First ms", &EndToEndRow::ttftMs, 2), figureColumn("ms a token", &EndToEndRow::decodeMsPerToken, 3),
        figureColumn("p90", &EndToEndRow::decodeP90Ms, 3), figureColumn("p99", &EndToEndRow::decodeP99Ms, 3),
        figureColumn("Tokens/s", &EndToEndRow::decodeTokensPerS, 1), figureColumn("Total ms", &EndToEndRow::totalMs, 1),
        figureColumn("Outside ms", &EndToEndRow::outsideForwardMs, 2), figureColumn("Speed-up", &EndToEndRow::speedup, 3, "x"),
        {.title = "95 % interval", .numeric = true, .raw = [](Row row) { return row.speedupCiLow ? QVariant(*row.speedupCiLow) : QVariant(); },
         .text = [](Row row) { return row.speedupCiLow && row.speedupCiHigh ? number(*row.speedupCiLow, 3) + " to " + number(*row.speedupCiHigh, 3) : QString(); }},
        {.title = "Verdict", .raw = [](Row row) { return QVariant(toQt(row.verdict)); }, .text = [](Row row) { return verdictLook(row.verdict).text; },
         .tone = [](Row row) { return verdictLook(row.verdict).tone; }, .icon = [](Row row) { return verdictLook(row.verdict).icon; }},
        {.title = "Reason", .raw = [](Row row) { return QVariant(toQt(row.reason)); }},
    };
}

EndToEndInterval e2eIntervals(const EndToEndRow& row, std::span<const SampleRow> samples) {
    std::vector<double> first, steps;
    for (const SampleRow& sample : samples) {
        if (sample.metric == "ttft_ms") first.push_back(sample.value);
        if (sample.metric == "decode_ms_per_token") steps.push_back(sample.value);
    }
    constexpr std::size_t kFewest = 5;  // fewer say nothing about where the median may lie
    EndToEndInterval intervals;
    if (first.size() >= kFewest) intervals.ttftMs = bootstrapMedian(first);
    if (steps.size() >= kFewest) intervals.decodeMs = bootstrapMedian(steps);
    if (intervals.decodeMs && row.decodeMsPerToken && row.decodeTokensPerS && intervals.decodeMs->low > 0) {
        const double sequences = *row.decodeTokensPerS * *row.decodeMsPerToken;  // tokens a second times milliseconds a token: the batch
        intervals.tokensPerS = Interval{sequences / intervals.decodeMs->high, sequences / intervals.decodeMs->low};
    }
    return intervals;
}

std::vector<ValueBar> e2eBars(std::span<const EndToEndRow> rows, std::optional<double> EndToEndRow::* figure, const EndToEndIntervals& intervals) {
    std::vector<ValueBar> bars;
    const bool both = hasBothModes(rows);
    for (const EndToEndRow& row : rows) {
        if (!(row.*figure)) continue;
        ValueBar bar{.label = label(row, both), .value = *(row.*figure), .low = {}, .high = {}, .accent = row.configuration == "patched"};
        if (const auto found = intervals.find(rowKey(row)); found != intervals.end()) {
            const EndToEndInterval& of = found->second;
            const std::optional<Interval>& interval = figure == &EndToEndRow::ttftMs ? of.ttftMs : figure == &EndToEndRow::decodeMsPerToken ? of.decodeMs : of.tokensPerS;
            if (interval) {
                bar.low = interval->low;
                bar.high = interval->high;
            }
        }
        bars.push_back(std::move(bar));
    }
    return bars;
}

QString e2eHeadline(std::span<const EndToEndRow> rows) {
    const EndToEndRow* row = lastPatched(rows);
    if (!row) return {};
    QString text = *row->speedup >= 1 ? QString("generate() is %1x faster with these kernels").arg(number(*row->speedup, 2))
                                      : QString("generate() runs at %1x with these kernels").arg(number(*row->speedup, 2));
    if (row->verdict == "same") text = "generate() is as fast as before";
    if (row->verdict == "cant_tell") text = "Can't tell whether generate() is faster";
    if (row->speedupCiLow && row->speedupCiHigh) text += QString(" (95 %: %1 to %2)").arg(number(*row->speedupCiLow, 2), number(*row->speedupCiHigh, 2));
    if (row->mode == "graph") text += ", as a CUDA graph";
    return text;
}

QString e2eSubline(std::span<const EndToEndRow> rows) {
    const EndToEndRow* row = lastPatched(rows);
    if (!row) return {};
    QStringList parts, predictions;
    if (row->predictedByGpu) predictions << number(*row->predictedByGpu, 2) + "x from GPU time";
    if (row->predictedBySpan) predictions << number(*row->predictedBySpan, 2) + "x from the wall-clock share";
    if (!predictions.isEmpty()) parts << "Predicted " + predictions.join(", ");
    if (row->tokensMatch) {
        parts << (*row->tokensMatch ? QString("all tokens are the same in both")
                                    : QString("tokens differ from the %1th on%2").arg(qlonglong(row->firstDivergence.value_or(0) + 1))
                                          .arg(row->logitGap ? ", where the logits are " + figure(*row->logitGap) + " apart" : QString()));
    }
    if (row->eagerSpeedup && row->mode == "graph") parts << number(*row->eagerSpeedup, 2) + "x over native eager";
    return parts.join(" · ");
}

QString ledgerWords(const nlohmann::json& result, const std::string& mode) {
    for (const char* clock : {"gpu", "span"}) {
        const nlohmann::json::json_pointer where("/ledger/" + mode + "/words_by_" + clock);
        const nlohmann::json::json_pointer predicted("/ledger/" + mode + "/predicted_by_" + clock);
        if (result.is_object() && result.contains(where) && result.at(where).is_string() && result.contains(predicted) && result.at(predicted).is_number()) {
            return toQt(result.at(where).get<std::string>());
        }
    }
    return {};
}

std::vector<WaterfallStep> e2eWaterfall(std::span<const EndToEndRow> rows, const nlohmann::json& result) {
    const EndToEndRow* row = lastPatched(rows);
    if (!row || !(*row->speedup > 0)) return {};
    const bool byGpu = row->predictedByGpu.has_value();
    const auto predicted = byGpu ? row->predictedByGpu : row->predictedBySpan;
    const double measured = 100 / *row->speedup;
    std::vector<WaterfallStep> steps{{.label = "Native", .from = 0, .to = 100, .whole = true, .color = {}, .value = "100 %"}};
    if (predicted && *predicted > 0) {
        double at = 100;
        for (const auto& [op, removed] : contributions(result, row->mode, byGpu ? "contribution_by_gpu_pct" : "contribution_by_span_pct")) {
            steps.push_back({.label = toQt(op), .from = at, .to = at - removed, .color = operatorColor(op), .value = number(-removed, 1) + " %"});
            at -= removed;
        }
        at = 100 / *predicted;
        steps.push_back({.label = byGpu ? "Predicted by GPU time" : "Predicted by span", .from = 0, .to = at, .whole = true, .color = {}, .value = percent(at)});
        steps.push_back({.label = "Not explained", .from = at, .to = measured, .color = {}, .value = (measured > at ? "+" : "") + number(measured - at, 1) + " %"});
    }
    steps.push_back({.label = "Measured", .from = 0, .to = measured, .whole = true, .color = QColor("#2058d6"), .value = percent(measured)});
    return steps;
}

}  // namespace kernelscope::ui
