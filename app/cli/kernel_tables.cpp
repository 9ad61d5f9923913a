#include "app/cli/kernel_tables.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "core/records/context_rows.h"
#include "core/records/format.h"
#include "core/records/kernel_rows.h"
#include "core/records/plain_table.h"
#include "core/records/rows.h"
#include "core/records/verdict.h"

namespace kernelscope::cli {

namespace {

using Align = PlainTable::Align;

template <typename Row>
std::vector<Row> typed(std::span<const RowRecord> records) {
    std::vector<Row> rows;
    for (const RowRecord& record : records)
        if (record.type == RowSchema<Row>::kName)
            if (auto row = rowFrom<Row>(record.values)) rows.push_back(std::move(*row));
    return rows;
}

std::string time(const std::optional<double>& us) { return us ? formatMicroseconds(*us) : std::string(); }
std::string ratio(const std::optional<double>& value, const std::optional<double>& low, const std::optional<double>& high) {
    if (!value) return {};
    if (!low || !high) return formatRatio(*value);
    return fmt::format("{} ({} to {})", formatRatio(*value), formatRatio(*low), formatRatio(*high));
}
std::string figure(const std::optional<double>& value) { return value ? formatSignificant(*value) : std::string(); }
std::string cell(const ValidateRow& row) { return fmt::format("{} x {} {}", row.rows, row.hidden, row.caseName); }
bool isRight(const std::string& status) { return status == "ok" || status == "other_order" || status == "refused"; }

struct VariantSummary {
    std::string op, variant, dtype;
    std::map<std::string, int> statuses;
    std::optional<double> worstUlp, worstRatio;
};

void keepWorst(std::optional<double>& worst, const std::optional<double>& value) {
    if (value && (!worst || *value > *worst)) worst = value;
}

}  // namespace

std::string validateTable(std::span<const RowRecord> records) {
    const auto rows = typed<ValidateRow>(records);
    std::vector<VariantSummary> summaries;
    for (const ValidateRow& row : rows) {
        auto found = std::find_if(summaries.begin(), summaries.end(),
                                  [&](const VariantSummary& other) { return other.op == row.op && other.variant == row.variant && other.dtype == row.dtype; });
        if (found == summaries.end()) found = summaries.insert(summaries.end(), {row.op, row.variant, row.dtype, {}, {}, {}});
        ++found->statuses[row.status];
        keepWorst(found->worstUlp, row.maxUlp);
        keepWorst(found->worstRatio, row.errRatio);
    }
    PlainTable table;
    for (const char* title : {"operator", "variant", "type"}) table.addColumn(title);
    for (const char* title : {"cells", "worst ULP", "worst error over native's"}) table.addColumn(title, Align::right);
    table.addColumn("statuses");
    for (const VariantSummary& summary : summaries) {
        std::string statuses;
        int cells = 0;
        for (const auto& [status, count] : summary.statuses) {
            statuses += fmt::format("{}{} {}", statuses.empty() ? "" : ", ", count, status);
            cells += count;
        }
        table.addRow({summary.op, summary.variant, summary.dtype, std::to_string(cells), figure(summary.worstUlp), figure(summary.worstRatio), statuses});
    }
    std::string text = table.text();

    PlainTable failures;
    for (const char* title : {"not right", "variant", "type", "cell", "status", "worst at", "reason"}) failures.addColumn(title);
    constexpr std::size_t kMost = 40;  // a variant that is wrong everywhere need not say so a thousand times
    std::size_t count = 0;
    for (const ValidateRow& row : rows)
        if (!isRight(row.status) && row.status != "skipped" && ++count <= kMost)
            failures.addRow({row.op, row.variant, row.dtype, cell(row), row.status, row.worstIndex, row.reason});
    if (count) text += "\n" + failures.text();
    if (count > kMost) text += fmt::format("and {} more; --csv has them all\n", count - kMost);
    return text;
}

std::string sweepTable(std::span<const RowRecord> records) {
    PlainTable table;
    for (const char* title : {"operator", "variant", "type"}) table.addColumn(title);
    for (const char* title : {"hidden", "rows"}) table.addColumn(title, Align::right);
    for (const char* title : {"cache", "status"}) table.addColumn(title);
    for (const char* title : {"device", "call", "GB/s", "of the limit", "speed-up"}) table.addColumn(title, Align::right);
    for (const char* title : {"verdict", "reason"}) table.addColumn(title);
    const std::vector<SweepRow> rows = typed<SweepRow>(records);
    // Which GPU, where it was more than one.
    const bool several = std::any_of(rows.begin(), rows.end(), [&](const SweepRow& row) { return row.device != rows.front().device; });
    if (several) table.addColumn("on");
    for (const SweepRow& row : rows) {
        std::vector<std::string> cells{row.op, row.variant, row.dtype, std::to_string(row.hidden), std::to_string(row.rows), row.cache, row.status, time(row.deviceUs), time(row.callUs),
                                       figure(row.gbPerS), row.limitPct ? formatPercent(*row.limitPct) : std::string(), ratio(row.speedup, row.speedupCiLow, row.speedupCiHigh), verdictWords(row.verdict), row.reason};
        if (several) cells.push_back(row.device);
        table.addRow(std::move(cells));
    }
    return table.text();
}

std::string endToEndTable(std::span<const RowRecord> records) {
    PlainTable table;
    for (const char* title : {"configuration", "mode", "status"}) table.addColumn(title);
    for (const char* title : {"first token", "decode a token", "p90", "p99", "tokens/s", "total", "outside forward", "speed-up", "by span", "by gpu"}) table.addColumn(title, Align::right);
    for (const char* title : {"tokens", "verdict", "reason"}) table.addColumn(title);
    const auto ms = [](const std::optional<double>& value) { return value ? formatMicroseconds(*value * 1e3) : std::string(); };
    for (const EndToEndRow& row : typed<EndToEndRow>(records)) {
        const std::string tokens = !row.tokensMatch ? "" : *row.tokensMatch ? "the same" : fmt::format("differ at {}", row.firstDivergence.value_or(0));
        table.addRow({row.configuration, row.mode, row.status, ms(row.ttftMs), ms(row.decodeMsPerToken), ms(row.decodeP90Ms), ms(row.decodeP99Ms), figure(row.decodeTokensPerS), ms(row.totalMs),
                      ms(row.outsideForwardMs), ratio(row.speedup, row.speedupCiLow, row.speedupCiHigh), row.predictedBySpan ? formatRatio(*row.predictedBySpan) : std::string(),
                      row.predictedByGpu ? formatRatio(*row.predictedByGpu) : std::string(), tokens, verdictWords(row.verdict), row.reason});
    }
    return table.text();
}

std::string tuneTable(std::span<const RowRecord> records) {
    PlainTable table;
    table.addColumn("operator");
    for (const char* title : {"hidden", "rows"}) table.addColumn(title, Align::right);
    for (const char* title : {"launch", "configuration"}) table.addColumn(title);
    for (const char* title : {"cold", "warm", "chain", "before, cold"}) table.addColumn(title, Align::right);
    table.addColumn("status");
    const auto rows = typed<TuneRow>(records);
    const auto sameCell = [](const TuneRow& a, const TuneRow& b) { return a.op == b.op && a.hidden == b.hidden && a.rows == b.rows && a.launch == b.launch; };
    for (const TuneRow& row : rows) {
        if (row.status == "tried" || row.status == "replaced") continue;
        const auto before = std::find_if(rows.begin(), rows.end(), [&](const TuneRow& other) { return other.status == "replaced" && sameCell(row, other); });
        const std::string settings = row.trigger.empty() ? row.config : fmt::format("{}, {}, {}{}", row.config, row.trigger, row.prefetch, row.blocksPerSm > 0 ? fmt::format(", {} blocks", row.blocksPerSm) : "");
        table.addRow({row.op, fmt::to_string(row.hidden), fmt::to_string(row.rows), row.launch, settings, time(row.coldUs), time(row.warmUs), time(row.chainUs),
                   before == rows.end() ? std::string() : time(before->coldUs), row.status == "skipped" ? "skipped: " + row.reason : row.status});
    }
    return table.text();
}

std::string contextTable(std::span<const RowRecord> records) {
    const auto shares = typed<ContextShareRow>(records);
    std::vector<std::string> types;
    for (const ContextShareRow& share : shares)
        if (std::find(types.begin(), types.end(), share.type) == types.end()) types.push_back(share.type);
    PlainTable table;
    for (const char* title : {"batch", "context", "decode a token", "95 % interval", "tokens/s", "GPU", "peak memory", "cache"}) table.addColumn(title, Align::right);
    for (const std::string& type : types) table.addColumn(type, Align::right);
    table.addColumn("status");
    table.addColumn("reason");
    const auto ms = [](const std::optional<double>& value) { return value ? formatMicroseconds(*value * 1e3) : std::string(); };
    const auto size = [](const std::optional<std::int64_t>& bytes) { return bytes ? formatBytes(static_cast<double>(*bytes)) : std::string(); };
    for (const ContextRow& row : typed<ContextRow>(records)) {
        std::vector<std::string> cells{std::to_string(row.batch), std::to_string(row.contextTokens), ms(row.decodeMsPerToken), row.decodeCiLowMs ? ms(row.decodeCiLowMs) + " to " + ms(row.decodeCiHighMs) : std::string(),
                                       figure(row.decodeTokensPerS), ms(row.gpuMsPerToken), size(row.peakMemoryBytes), size(row.cacheBytes)};
        for (const std::string& type : types) {
            const auto found = std::find_if(shares.begin(), shares.end(), [&](const ContextShareRow& share) { return share.batch == row.batch && share.contextTokens == row.contextTokens && share.type == type; });
            cells.push_back(found == shares.end() || !found->spanSharePct ? std::string() : formatPercent(*found->spanSharePct));
        }
        cells.push_back(row.status);
        cells.push_back(row.reason);
        table.addRow(std::move(cells));
    }
    return table.text();
}

int exitCodeOf(std::span<const RowRecord> records) {
    int code = 0;
    for (const RowRecord& record : records) {
        const RowType* type = findRowType(record.type);
        const int column = type ? type->indexOf("status") : -1;
        if (column < 0) continue;
        const auto* status = std::get_if<std::string>(&record.values[static_cast<std::size_t>(column)]);
        if (!status) continue;
        if (*status == "wrong") return static_cast<int>(ErrorCode::wrong);
        if (*status == "crashed" || *status == "hung") code = static_cast<int>(ErrorCode::cantTell);
    }
    return code;
}

}  // namespace kernelscope::cli
