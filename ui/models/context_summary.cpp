#include "ui/models/context_summary.h"

#include <algorithm>
#include <map>
#include <set>

#include "ui/models/kernel_summary.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

// The order of a pass, so that a type keeps its place from column to column.
int placeOf(const std::string& type) {
    static const std::vector<std::string> order{"Attention", "MLP", "RMSNorm", "Residual", "Rotary", "Embedding", "LM head"};
    return int(std::find(order.begin(), order.end(), type) - order.begin());
}

template <typename Value>
std::vector<ContextLine> linesOf(std::span<const ContextRow> rows, const Value& pointOf) {
    std::map<std::int64_t, ContextLine> lines;
    for (const ContextRow& row : rows) {
        const std::optional<ContextPoint> point = pointOf(row);
        if (!point) continue;
        lines[row.batch].batch = row.batch;
        lines[row.batch].points.push_back(*point);
    }
    std::vector<ContextLine> result;
    for (auto& [batch, line] : lines) {
        std::sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.context < b.context; });
        result.push_back(std::move(line));
    }
    return result;
}

ColumnSpec<ContextRow> figureColumn(const char* title, std::optional<double> ContextRow::* member, int decimals) {
    return {.title = title, .numeric = true,
            .raw = [member](const ContextRow& row) { return row.*member ? QVariant(*(row.*member)) : QVariant(); },
            .text = [=](const ContextRow& row) { return number(row.*member, decimals); }};
}

ColumnSpec<ContextRow> memoryColumn(const char* title, const char* toolTip, std::optional<std::int64_t> ContextRow::* member) {
    return {.title = title, .toolTip = toolTip, .numeric = true,
            .raw = [member](const ContextRow& row) { return row.*member ? QVariant(qlonglong(*(row.*member))) : QVariant(); },
            .text = [member](const ContextRow& row) { return row.*member ? bytes(double(*(row.*member))) : QString(); }};
}

}  // namespace

std::vector<ColumnSpec<ContextRow>> contextColumns() {
    using Row = const ContextRow&;
    return {
        {.title = "Batch", .numeric = true, .raw = [](Row row) { return QVariant(qlonglong(row.batch)); }},
        {.title = "Context", .numeric = true, .raw = [](Row row) { return QVariant(qlonglong(row.contextTokens)); }},
        {.title = "Status", .raw = [](Row row) { return QVariant(toQt(row.status)); }, .text = [](Row row) { return statusLook(row.status).text; },
         .tone = [](Row row) { return statusLook(row.status).tone; }, .icon = [](Row row) { return statusLook(row.status).icon; }},
        figureColumn("ms a token", &ContextRow::decodeMsPerToken, 3),
        {.title = "95 % interval", .numeric = true, .raw = [](Row row) { return row.decodeCiLowMs ? QVariant(*row.decodeCiLowMs) : QVariant(); },
         .text = [](Row row) { return row.decodeCiLowMs && row.decodeCiHighMs ? number(*row.decodeCiLowMs, 3) + " to " + number(*row.decodeCiHighMs, 3) : QString(); }},
        figureColumn("GPU ms", &ContextRow::gpuMsPerToken, 3), figureColumn("Tokens/s", &ContextRow::decodeTokensPerS, 1),
        memoryColumn("Peak memory", "Of the device, or of the engine on a CPU, while the step ran", &ContextRow::peakMemoryBytes),
        memoryColumn("Cache", "Keys and values", &ContextRow::cacheBytes),
        {.title = "Reason", .raw = [](Row row) { return QVariant(toQt(row.reason)); }},
    };
}

std::vector<ContextLine> decodeLines(std::span<const ContextRow> rows) {
    return linesOf(rows, [](const ContextRow& row) -> std::optional<ContextPoint> {
        if (!row.decodeMsPerToken) return std::nullopt;
        return ContextPoint{double(row.contextTokens), *row.decodeMsPerToken, row.decodeCiLowMs, row.decodeCiHighMs};
    });
}

std::vector<ContextLine> memoryLines(std::span<const ContextRow> rows) {
    return linesOf(rows, [](const ContextRow& row) -> std::optional<ContextPoint> {
        if (!row.peakMemoryBytes) return std::nullopt;
        return ContextPoint{double(row.contextTokens), double(*row.peakMemoryBytes) / kGib, {}, {}};
    });
}

std::vector<std::int64_t> batchesOf(std::span<const ContextRow> rows) {
    std::set<std::int64_t> batches;
    for (const ContextRow& row : rows) batches.insert(row.batch);
    return {batches.begin(), batches.end()};
}

std::vector<ShareColumn> shareColumns(std::span<const ContextShareRow> shares, std::int64_t batch, bool ofGpu) {
    std::map<std::int64_t, ShareColumn> columns;
    for (const ContextShareRow& row : shares) {
        const std::optional<double>& share = ofGpu ? row.gpuSharePct : row.spanSharePct;
        if (row.batch != batch || !share) continue;
        columns[row.contextTokens].context = row.contextTokens;
        columns[row.contextTokens].parts.emplace_back(row.type, *share);
    }
    std::vector<ShareColumn> result;
    for (auto& [context, column] : columns) {
        std::stable_sort(column.parts.begin(), column.parts.end(), [](const auto& a, const auto& b) { return placeOf(a.first) < placeOf(b.first); });
        result.push_back(std::move(column));
    }
    return result;
}

QString contextHeadline(std::span<const ContextRow> rows, std::span<const ContextShareRow> shares) {
    const auto lines = decodeLines(rows);
    if (lines.empty() || lines.front().points.empty()) return {};
    const ContextLine& line = lines.front();
    const ContextPoint &first = line.points.front(), &last = line.points.back();
    if (line.points.size() == 1) return QString("A token takes %1 ms after %2 tokens").arg(figure(first.value)).arg(first.context);
    QString text = QString("A token takes %1 ms after %2 tokens and %3 ms after %4 (%5x)").arg(figure(first.value)).arg(first.context).arg(figure(last.value)).arg(last.context)
                       .arg(number(last.value / first.value, 2));
    const auto columns = shareColumns(shares, line.batch, false);
    if (columns.size() < 2) return text;
    const auto shareIn = [](const ShareColumn& column, const std::string& type) {
        for (const auto& [name, share] : column.parts) if (name == type) return share;
        return 0.0;
    };
    std::string moved;
    double most = 0;
    for (const auto& [type, share] : columns.back().parts) {
        const double by = share - shareIn(columns.front(), type);
        if (by <= most) continue;
        most = by;
        moved = type;
    }
    if (most >= 1) text += QString("; %1 grows from %2 to %3 %").arg(toQt(moved), number(shareIn(columns.front(), moved), 0), number(shareIn(columns.back(), moved), 0));
    return text;
}

}  // namespace kernelscope::ui
