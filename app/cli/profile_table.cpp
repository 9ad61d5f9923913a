#include "app/cli/profile_table.h"

#include <cmath>

#include <fmt/core.h>

#include "core/records/format.h"
#include "core/records/headline.h"
#include "core/records/plain_table.h"
#include "core/records/rows.h"
#include "core/records/verdict.h"

namespace kernelscope::cli {

namespace {

std::string time(const std::optional<double>& us) { return us ? formatMicroseconds(*us) : std::string(); }
std::string count(const std::optional<std::int64_t>& value) { return value ? formatCount(*value) : std::string(); }

std::string share(const ProfileRow& row, const std::optional<double>& pct, const std::optional<double>& low, const std::optional<double>& high) {
    if (!pct) return {};
    if (!canBeTold(row, *pct, low, high)) return "cannot tell";
    // The interval is narrow and nearly symmetric as a rule: its half width says enough here, the CSV has both ends.
    if (low && high) return fmt::format("{:.1f} ± {:.1f} %", *pct, (*high - *low) / 2);
    return formatPercent(*pct);
}

/// Template arguments make kernel names hundreds of characters long; the CSV has them whole.
constexpr std::size_t kLongestKernelName = 72;
std::string shortened(const std::string& name) { return name.size() <= kLongestKernelName ? name : name.substr(0, kLongestKernelName - 3) + "..."; }

bool closes(const ProfileRow& row) { return row.name == "unattributed" || row.name == "total" || row.name == "profiler tax"; }

}  // namespace

std::string profileTable(std::span<const RowRecord> records, const nlohmann::json& result) {
    std::string text;
    for (const std::string_view phase : {"prefill", "decode"}) {
        std::vector<ProfileRow> rows;
        for (const RowRecord& record : records)
            if (auto row = rowFrom<ProfileRow>(record.values); row && row->phase == phase) rows.push_back(std::move(*row));
        if (rows.empty()) continue;
        PlainTable table;
        table.addColumn(std::string(phase));
        const bool kernels = rows.front().level == "kernel";
        if (kernels) table.addColumn("type");
        for (const char* title : {"calls", "kernels", "span", "self", "gpu", "gap", "share of span", "share of gpu"}) table.addColumn(title, PlainTable::Align::right);
        table.addColumn("note");
        bool closing = false;
        for (const ProfileRow& row : rows) {
            if (closes(row) && !closing) {
                table.addRule();
                closing = true;
            }
            std::vector<std::string> cells{kernels ? shortened(row.name) : row.name};
            if (kernels) cells.push_back(row.type);
            const bool nested = row.selfSpanUs && row.selfSpanUs != row.spanUs;  // such as what attention does beside its projections, at level leaf
            for (const std::string& cell : {count(row.calls), count(row.kernels), time(row.spanUs), nested ? time(row.selfSpanUs) : std::string(), time(row.gpuUs), time(row.gapUs),
                                            share(row, row.spanSharePct, row.spanShareCiLowPct, row.spanShareCiHighPct),
                                            share(row, row.gpuSharePct, row.gpuShareCiLowPct, row.gpuShareCiHighPct), row.note})
                cells.push_back(cell);
            table.addRow(std::move(cells));
        }
        if (!text.empty()) text += "\n";
        if (const std::string headline = phaseHeadline(rows, phase, result); !headline.empty()) text += headline + "\n\n";
        text += table.text();
        const auto work = passWorkOf(result, phase);
        for (const std::string& sentence : {bestCaseSentence(rows, phase, work ? &*work : nullptr), cautionOf(rows, phase)})
            if (!sentence.empty()) text += "\n" + sentence + "\n";
    }
    return text;
}

std::string crossCheckTable(std::span<const RowRecord> records) {
    PlainTable table;
    table.addColumn("against the driver's trace");
    for (const char* title : {"kernels", "trace", "ours", "error", "trace share", "our share", "names differ"}) table.addColumn(title, PlainTable::Align::right);
    for (const RowRecord& record : records) {
        const auto row = rowFrom<CrossCheckRow>(record.values);
        if (!row) continue;
        if (row->name == "total") table.addRule();
        table.addRow({row->phase + " " + row->name, formatCount(row->kernels), formatMicroseconds(row->traceUs), formatMicroseconds(row->kernelUs),
                      row->errorPct ? fmt::format("{:+.1f} %", *row->errorPct) : std::string(), formatPercent(row->traceSharePct), formatPercent(row->kernelSharePct),
                      formatCount(row->namesDiffer)});
    }
    return table.text();
}

}  // namespace kernelscope::cli
