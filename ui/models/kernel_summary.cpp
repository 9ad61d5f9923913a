#include "ui/models/kernel_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/records/row_key.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

bool matches(const SweepRow& row, const KernelView& view) {
    return row.op == view.op && row.variant == view.variant && (view.dtype.empty() || row.dtype == view.dtype) && (view.cache.empty() || row.cache == view.cache);
}

bool matches(const ValidateRow& row, const KernelView& view) {
    return row.op == view.op && row.variant == view.variant && (view.dtype.empty() || row.dtype == view.dtype);
}

void addNew(std::vector<std::string>& list, const std::string& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Bad news first: what a shape is called when its cases differ. A case that was skipped (graphs on a CPU, a cell too large for the memory) says nothing
// of the kernel: it counts where there is nothing else.
constexpr int kSkipped = -1;
int severity(const std::string& status) {
    static const std::vector<std::string> order{"ok", "other_order", "refused", "noisy", "throttled", "hung", "crashed", "wrong"};
    if (status == "skipped") return kSkipped;
    const auto found = std::find(order.begin(), order.end(), status);
    return found == order.end() ? 0 : int(found - order.begin());
}

QString factor(double ratio) { return number(ratio, ratio >= 9.95 ? 1 : 2) + "x"; }

struct Mean {
    double logs = 0;
    int count = 0, slower = 0, unsure = 0;
    [[nodiscard]] double value() const { return std::exp(logs / std::max(1, count)); }
    // Only cells that got a verdict count: a noisy or impossible one claims nothing.
    void add(const SweepRow& row) {
        if (!row.speedup || !(*row.speedup > 0)) return;
        if (row.verdict != "faster" && row.verdict != "slower" && row.verdict != "same") {
            ++unsure;
            return;
        }
        logs += std::log(*row.speedup);
        ++count;
        slower += row.verdict == "slower";
    }
};

Mean speedupMean(std::span<const SweepRow> swept, const KernelView& view) {
    Mean mean;
    for (const SweepRow& row : swept) {
        if (matches(row, view)) mean.add(row);
    }
    return mean;
}

template <typename Row>
Grid emptyGrid(std::span<const Row> all, const KernelView& view) {
    std::set<std::int64_t> hidden, rows;
    for (const Row& row : all) {
        if (!matches(row, view)) continue;
        hidden.insert(row.hidden);
        rows.insert(row.rows);
    }
    Grid grid{.hidden = {hidden.begin(), hidden.end()}, .rows = {rows.begin(), rows.end()}};
    grid.cells.resize(grid.hidden.size() * grid.rows.size());
    return grid;
}

GridCell& cellOf(Grid& grid, std::int64_t hidden, std::int64_t rows) {
    const auto h = std::lower_bound(grid.hidden.begin(), grid.hidden.end(), hidden) - grid.hidden.begin();
    const auto r = std::lower_bound(grid.rows.begin(), grid.rows.end(), rows) - grid.rows.begin();
    return grid.cells[std::size_t(h) * grid.rows.size() + std::size_t(r)];
}

QString sweepDetail(const SweepRow& row) {
    QString text = QString("<b>%1 x %2</b>, %3<br>%4").arg(row.hidden).arg(row.rows).arg(toQt(row.cache), statusLook(row.status).text);
    if (row.deviceUs) text += "<br>device " + number(*row.deviceUs, 2) + " µs";
    if (row.callUs) text += ", call " + number(*row.callUs, 2) + " µs";
    if (row.speedup) text += "<br>" + factor(*row.speedup);
    if (row.speedupCiLow && row.speedupCiHigh) text += QString(" (95 %: %1 to %2)").arg(factor(*row.speedupCiLow), factor(*row.speedupCiHigh));
    if (row.limitPct) text += "<br>" + number(*row.limitPct, 0) + " % of the device's limit";
    if (!row.reason.empty()) text += "<br>" + toQt(row.reason).toHtmlEscaped();
    return text;
}

}  // namespace

StatusLook statusLook(const std::string& status) {
    static const std::map<std::string, StatusLook> looks{
        {"ok", {"ok", Tone::good, "ok"}},
        {"other_order", {"other order", Tone::warn, "warning"}},
        {"refused", {"refused", Tone::muted, "info"}},
        {"wrong", {"wrong", Tone::bad, "error"}},
        {"crashed", {"crashed", Tone::bad, "error"}},
        {"hung", {"hung", Tone::bad, "error"}},
        {"skipped", {"skipped", Tone::muted, "info"}},
        {"noisy", {"noisy", Tone::warn, "warning"}},
        {"throttled", {"throttled", Tone::warn, "warning"}}};
    const auto found = looks.find(status);
    return found == looks.end() ? StatusLook{toQt(status), Tone::normal, {}} : found->second;
}

StatusLook verdictLook(const std::string& verdict) {
    if (verdict == "faster") return {"faster", Tone::good, "up"};
    if (verdict == "slower") return {"slower", Tone::bad, "down"};
    if (verdict == "same") return {"same", Tone::muted, "same"};
    if (verdict == "cant_tell") return {"can't tell", Tone::warn, "unknown"};
    if (verdict == "unmatched") return {"unmatched", Tone::muted, "info"};
    return {toQt(verdict), Tone::normal, {}};
}

std::vector<std::string> variantsOf(std::span<const ValidateRow> validated, std::span<const SweepRow> swept, const std::string& op) {
    std::vector<std::string> variants;
    for (const ValidateRow& row : validated) if (row.op == op) addNew(variants, row.variant);
    for (const SweepRow& row : swept) if (row.op == op) addNew(variants, row.variant);
    return variants;
}

std::vector<std::string> dtypesOf(std::span<const ValidateRow> validated, std::span<const SweepRow> swept) {
    std::vector<std::string> dtypes;
    for (const SweepRow& row : swept) addNew(dtypes, row.dtype);
    for (const ValidateRow& row : validated) addNew(dtypes, row.dtype);
    return dtypes;
}

std::vector<std::string> cachesOf(std::span<const SweepRow> swept) {
    std::vector<std::string> caches;
    for (const SweepRow& row : swept) addNew(caches, row.cache);
    return caches;
}

std::vector<OperatorSummary> operatorSummaries(std::span<const ValidateRow> validated, std::span<const SweepRow> swept) {
    std::vector<std::string> operators;
    for (const ValidateRow& row : validated) addNew(operators, row.op);
    for (const SweepRow& row : swept) addNew(operators, row.op);
    std::vector<OperatorSummary> result;
    for (const std::string& op : operators) {
        OperatorSummary summary{.op = op, .status = "Not validated", .tone = Tone::muted, .icon = "unknown", .speedup = {}};
        std::map<std::string, int> worst;  // a variant
        const auto judge = [&](const std::string& variant, int level) {
            const auto [known, first] = worst.try_emplace(variant, level);
            if (!first) known->second = std::max(known->second, level);
        };
        for (const ValidateRow& row : validated) {
            if (row.op == op && row.variant != "native") judge(row.variant, severity(row.status));
        }
        for (const SweepRow& row : swept) {
            if (row.op != op || row.variant == "native") continue;
            const bool timed = row.status == "noisy" || row.status == "throttled";  // hard to time, but right
            judge(row.variant, timed ? 0 : severity(row.status));
        }
        const auto count = [&](auto test) { return int(std::count_if(worst.begin(), worst.end(), [&](const auto& entry) { return test(entry.second); })); };
        const int bad = count([](int level) { return level >= severity("hung"); });
        const int good = count([](int level) { return level == 0; });
        if (bad > 0) {
            summary.status = bad == 1 ? QString("1 variant wrong") : QString("%1 variants wrong").arg(bad);
            summary.tone = Tone::bad;
            summary.icon = "error";
        } else if (good > 0) {
            summary.status = "Valid";
            summary.tone = Tone::good;
            summary.icon = "ok";
        } else if (count([](int level) { return level != kSkipped; }) > 0) {
            summary.status = "Valid in part";
            summary.tone = Tone::warn;
            summary.icon = "warning";
        }
        summary.speedup = bestSpeedup(swept, {.op = op, .variant = {}, .dtype = {}, .cache = {}});
        result.push_back(summary);
    }
    return result;
}

QString bestSpeedup(std::span<const SweepRow> swept, const KernelView& view) {
    double best = 0;
    for (const std::string& variant : variantsOf({}, swept, view.op)) {
        if (variant == "native") continue;
        const Mean mean = speedupMean(swept, {view.op, variant, view.dtype, view.cache});
        if (mean.count > 0) best = std::max(best, mean.value());
    }
    return best > 0 ? factor(best) : QString();
}

std::vector<SpeedupLine> speedupLines(std::span<const SweepRow> swept, const KernelView& view) {
    std::map<std::int64_t, SpeedupLine> lines;
    for (const SweepRow& row : swept) {
        if (!matches(row, view) || !row.speedup || row.rows < 1) continue;
        SpeedupLine& line = lines[row.hidden];
        line.hidden = row.hidden;
        line.points.push_back({double(row.rows), *row.speedup, row.speedupCiLow, row.speedupCiHigh});
    }
    std::vector<SpeedupLine> result;
    for (auto& [hidden, line] : lines) {
        std::sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.rows < b.rows; });
        result.push_back(std::move(line));
    }
    return result;
}

Grid sweepGrid(std::span<const SweepRow> swept, const KernelView& view, GridFigure figure) {
    Grid grid = emptyGrid(swept, view);
    double most = 0;
    for (const SweepRow& row : swept) {
        if (!matches(row, view)) continue;
        GridCell& cell = cellOf(grid, row.hidden, row.rows);
        const auto& value = figure == GridFigure::limit ? row.limitPct : figure == GridFigure::speedup ? row.speedup : row.deviceUs;
        cell.value = value;
        cell.detail = sweepDetail(row);
        cell.key = rowKey(row);
        const StatusLook look = statusLook(row.status);
        if (value) {
            cell.text = figure == GridFigure::limit ? number(*value, 0) : figure == GridFigure::speedup ? number(*value, *value >= 9.95 ? 0 : 1) : ui::figure(*value);
            most = std::max(most, *value);
        }
        if (row.status != "ok" && row.status != "other_order") {
            cell.icon = look.icon;
            cell.tone = look.tone;
        }
    }
    grid.most = figure == GridFigure::limit ? 100 : std::max(most, 1e-9);
    return grid;
}

Grid validationGrid(std::span<const ValidateRow> validated, const KernelView& view) {
    Grid grid = emptyGrid(validated, view);
    std::map<GridCell*, int> worst, cases;
    for (const ValidateRow& row : validated) {
        if (!matches(row, view)) continue;
        GridCell& cell = cellOf(grid, row.hidden, row.rows);
        cases[&cell] += row.status != "skipped";
        const auto found = worst.find(&cell);
        if (found != worst.end() && found->second >= severity(row.status)) continue;
        worst[&cell] = severity(row.status);
        const StatusLook look = statusLook(row.status);
        cell.icon = look.icon;
        cell.tone = look.tone;
        cell.key = rowKey(row);
        cell.detail = QString("<b>%1 x %2</b>, %3<br>%4 in case %5").arg(row.hidden).arg(row.rows).arg(toQt(row.dtype), look.text, toQt(row.caseName));
        if (!row.reason.empty()) cell.detail += "<br>" + toQt(row.reason).toHtmlEscaped();
    }
    for (auto& [cell, count] : cases) {
        if (worst[cell] == 0) cell->detail = cell->detail.section(" in case ", 0, 0) + (count == 1 ? QString(" in its one case") : QString(" in all of %1 cases").arg(count));
    }
    return grid;
}

Grid withPlan(Grid grid, std::span<const std::int64_t> hidden, std::span<const std::int64_t> rows) {
    if (grid.cells.empty()) return grid;
    std::set<std::int64_t> allHidden(grid.hidden.begin(), grid.hidden.end()), allRows(grid.rows.begin(), grid.rows.end());
    allHidden.insert(hidden.begin(), hidden.end());
    allRows.insert(rows.begin(), rows.end());
    if (allHidden.size() == grid.hidden.size() && allRows.size() == grid.rows.size()) return grid;
    Grid whole{.hidden = {allHidden.begin(), allHidden.end()}, .rows = {allRows.begin(), allRows.end()}, .cells = {}, .least = grid.least, .most = grid.most};
    whole.cells.resize(whole.hidden.size() * whole.rows.size());
    for (std::size_t h = 0; h < grid.hidden.size(); ++h) {
        for (std::size_t r = 0; r < grid.rows.size(); ++r) cellOf(whole, grid.hidden[h], grid.rows[r]) = std::move(grid.cells[h * grid.rows.size() + r]);
    }
    return whole;
}

std::optional<std::pair<std::int64_t, std::int64_t>> busyShape(const std::string& key, const KernelView& view) {
    const RowType type = rowTypeOf<SweepRow>();
    const auto values = valuesFromKey(type, key);  // a validate row's key has as many parts, the case in the cache's place
    if (!values) return std::nullopt;
    const auto row = rowFrom<SweepRow>(*values);
    if (!row || row->op != view.op || (!view.dtype.empty() && row->dtype != view.dtype)) return std::nullopt;
    return std::pair{row->hidden, row->rows};
}

QString sweepHeadline(std::span<const SweepRow> swept, const KernelView& view) {
    const Mean mean = speedupMean(swept, view);
    if (mean.count == 0 && mean.unsure > 0 && view.variant != "native") {
        return QString("%1 can't be judged, all %2 cells are noisy or beyond what the device can do").arg(toQt(view.variant)).arg(mean.unsure);
    }
    if (mean.count == 0) return {};
    const double value = mean.value();
    QString text = toQt(view.variant) + (view.variant == "native" ? " is the baseline" : "");
    if (view.variant == "native") return text;
    text += value >= 1 ? QString(" is %1 faster than native").arg(factor(value)) : QString(" runs at %1 of native's speed").arg(factor(value));
    text += mean.count == 1 ? QString(" (1 cell)") : QString(" (geometric mean of %1 cells)").arg(mean.count);
    if (mean.unsure > 0) text += QString(", can't tell in %1").arg(mean.unsure);
    text += mean.slower == 0 ? QString(", never slower") : mean.slower == 1 ? QString(", slower in 1") : QString(", slower in %1").arg(mean.slower);
    return text;
}

QString validationSentence(std::span<const ValidateRow> validated, const KernelView& view) {
    int passed = 0, all = 0, skipped = 0;
    double ulp = 0;
    for (const ValidateRow& row : validated) {
        if (row.op != view.op || row.variant != view.variant) continue;
        if (row.status == "skipped") {
            ++skipped;
            continue;
        }
        ++all;
        passed += row.status == "ok" || row.status == "other_order" || row.status == "refused";
        if (row.maxUlp && std::isfinite(*row.maxUlp)) ulp = std::max(ulp, *row.maxUlp);
    }
    if (all == 0) return skipped == 0 ? QString() : QString("all %1 validation cases skipped").arg(skipped);
    QString text = QString("%1 of %2 validation cases passed").arg(passed).arg(all);
    if (skipped > 0) text += QString(", %1 skipped").arg(skipped);
    if (ulp > 0) text += QString(", at most %1 ULP from float64").arg(ui::figure(ulp));
    return text;
}

}  // namespace kernelscope::ui
