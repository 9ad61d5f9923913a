#include "ui/models/profile_summary.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/records/verdict.h"
#include "ui/models/profile_tree.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

// Points of share by which a bar has to lead before it passes the one above it while a run is live.
constexpr double kClearlyLarger = 1.0;

QString barDetail(const ShareBar& bar, double spanUs, double gpuUs, bool hasGpu) {
    QString text = "<b>" + bar.name.toHtmlEscaped() + "</b>";
    if (bar.share) text += "<br>" + number(spanUs, 1) + " µs of the pass, " + number(*bar.share, 1) + " %";
    if (bar.low && bar.high) text += QString(" (95 %: %1 to %2)").arg(number(*bar.low, 1), number(*bar.high, 1));
    if (hasGpu) text += "<br>" + number(gpuUs, 1) + " µs of GPU time";
    if (bar.gpuShare) text += ", " + number(*bar.gpuShare, 1) + " %";
    return text;
}

std::vector<BestCase> casesOf(std::span<const ProfileRow> rows, const nlohmann::json& result) {
    if (rows.empty()) return {};
    const auto work = passWorkOf(result, rows.front().phase);
    return bestCases(rows, rows.front().phase, work ? &*work : nullptr);
}

/// "<br>Perfect kernels here: up to 1.47x by span, 1.34x by GPU time"
QString bestWords(const std::vector<BestCase>& cases, const QString& type, bool oneClock) {
    for (const BestCase& best : cases) {
        if (toQt(best.type) != type || (!best.bySpan && !best.byGpu)) continue;
        QStringList parts;
        if (best.bySpan) parts << number(*best.bySpan, 2) + (best.byGpu && !oneClock ? "x by span" : "x");
        if (best.byGpu && !(oneClock && best.bySpan)) parts << number(*best.byGpu, 2) + "x by GPU time";
        return "<br>Perfect kernels here: up to " + parts.join(", ");
    }
    return {};
}

/// "profiler tax 1.6 % (0.3 to 2.0)"
QString taxWords(const ProfileRow& row) {
    if (!canBeTold(row, *row.spanSharePct, row.spanShareCiLowPct, row.spanShareCiHighPct)) return "can't tell the profiler tax";
    const QString text = "profiler tax " + number(*row.spanSharePct, 1) + " %";
    return row.spanShareCiLowPct && row.spanShareCiHighPct ? text + QString(" (%1 to %2)").arg(number(*row.spanShareCiLowPct, 1), number(*row.spanShareCiHighPct, 1)) : text;
}

struct Sums { double span = 0, gpu = 0; bool hasGpu = false; std::size_t rows = 0; };

int placeIn(const std::vector<ShareBar>& bars, const QString& name) {
    const auto found = std::find_if(bars.begin(), bars.end(), [&](const ShareBar& bar) { return bar.name == name; });
    return found == bars.end() ? int(bars.size()) : int(found - bars.begin());
}

}  // namespace

std::vector<ProfileRow> rowsOfPhase(std::span<const ProfileRow> rows, const std::string& phase) {
    std::vector<ProfileRow> result;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(result), [&](const ProfileRow& row) { return row.phase == phase; });
    return result;
}

std::vector<ShareBar> shareBars(std::span<const ProfileRow> rows, const std::vector<ShareBar>& before, const nlohmann::json& result) {
    std::vector<ShareBar> bars;
    std::map<QString, Sums> sums;
    const auto value = [](const std::optional<double>& share) { return share.value_or(0); };
    for (const ProfileRow& row : rows) {
        if (row.name == "total" || row.name == "profiler tax") continue;
        const bool rest = row.name == "unattributed" || row.type == "unattributed";
        const QString name = rest ? QString("unattributed") : toQt(row.type.empty() ? row.name : row.type);
        const int place = placeIn(bars, name);
        if (place == int(bars.size())) bars.push_back({.name = name, .unattributed = rest});
        ShareBar& bar = bars[std::size_t(place)];
        Sums& sum = sums[name];
        if (row.spanSharePct) bar.share = value(bar.share) + *row.spanSharePct;
        if (row.gpuSharePct) bar.gpuShare = value(bar.gpuShare) + *row.gpuSharePct;
        bar.low = sum.rows == 0 ? row.spanShareCiLowPct : std::nullopt;
        bar.high = sum.rows == 0 ? row.spanShareCiHighPct : std::nullopt;
        sum.span += row.selfSpanUs.value_or(0);
        sum.gpu += row.selfGpuUs ? *row.selfGpuUs : row.level == "kernel" ? row.gpuUs.value_or(0) : 0;
        sum.hasGpu |= row.selfGpuUs.has_value() || row.gpuUs.has_value();
        ++sum.rows;
    }
    // Level kernel has no spans: the GPU's share is then the one there is.
    const bool anySpan = std::any_of(bars.begin(), bars.end(), [](const ShareBar& bar) { return bar.share.has_value(); });
    const std::vector<BestCase> best = casesOf(rows, result);
    const bool oneClock = isOneGraph(rows);
    for (ShareBar& bar : bars) {
        bar.detail = barDetail(bar, sums[bar.name].span, sums[bar.name].gpu, sums[bar.name].hasGpu) + bestWords(best, bar.name, oneClock);
        if (!anySpan) std::swap(bar.share, bar.gpuShare);
        if (oneClock) bar.gpuShare.reset();
    }
    std::erase_if(bars, [](const ShareBar& bar) { return !bar.share && !bar.gpuShare; });

    std::stable_sort(bars.begin(), bars.end(), [&](const ShareBar& a, const ShareBar& b) {
        if (a.unattributed != b.unattributed) return b.unattributed;
        if (before.empty()) return value(a.share) > value(b.share);
        return placeIn(before, a.name) < placeIn(before, b.name);
    });
    // From the order on the screen, let a bar rise past its neighbour only when it clearly leads.
    for (bool moved = !before.empty(); moved;) {
        moved = false;
        for (std::size_t i = 1; i < bars.size(); ++i) {
            if (bars[i].unattributed || value(bars[i].share) <= value(bars[i - 1].share) + kClearlyLarger) continue;
            std::swap(bars[i], bars[i - 1]);
            moved = true;
        }
    }
    return bars;
}

QString profileSubline(std::span<const ProfileRow> rows, const RunHeader& run, bool live) {
    QStringList parts;
    if (!live && !rows.empty()) {
        if (const std::string caution = cautionOf(rows, rows.front().phase); !caution.empty()) parts << toQt(caution);
    }
    const NextStep next = live ? NextStep{} : nextStep(rows, run.result);
    if (!next.type.isEmpty()) {
        const bool kernels = !rows.empty() && rows.front().level == "kernel";
        // First of all: the line ends in an ellipsis where it is long.
        QString best = QString("A perfect %1 kernel buys up to %2x%3").arg(next.type, number(next.bySpan, 2), kernels ? " of GPU time" : "");
        if (next.byGpu) best += QString(", %1x by GPU time").arg(number(*next.byGpu, 2));
        parts << best;
    }
    // What an imported trace could not tell.
    if (run.result.is_object() && run.result.contains("missing") && run.result["missing"].is_array()) {
        for (const auto& words : run.result["missing"]) if (words.is_string()) parts << toQt(words.get<std::string>());
    }
    parts << (run.weights == "random" ? "Random weights" : "Weights from file");
    for (const ProfileRow& row : rows)
        if (row.name == "profiler tax" && row.spanSharePct) parts << taxWords(row);
    // What such a run keeps beside its rows: the first call's own cost, and the comparison with the driver's trace.
    const std::string phase = rows.empty() ? std::string() : rows.front().phase;
    const nlohmann::json::json_pointer first("/first_pass_us/" + phase), check("/cross_check/" + phase + "/summary");
    if (run.result.is_object() && run.result.contains(first) && run.result.at(first).is_number()) {
        parts << "first pass " + figure(run.result.at(first).get<double>() / 1000) + " ms";
    }
    // Kernels and graphs are timed by replays; the few eager passes before only warm up.
    const bool replayed = isOneGraph(rows) || (!rows.empty() && rows.front().level == "kernel");
    if (!live && !replayed && run.settings.contains("iterations") && run.settings["iterations"].is_number_integer()) {
        const int passes = run.settings["iterations"].get<int>();
        parts << QString(passes == 1 ? "%1 pass" : "%1 passes").arg(passes);
    }
    for (const ProfileRow& row : rows)
        if (row.name == "unattributed" && row.spanSharePct) parts << "unattributed " + number(*row.spanSharePct, 1) + " %";
    if (run.result.is_object() && run.result.contains(check) && run.result.at(check).is_string()) parts << toQt(run.result.at(check).get<std::string>());
    return parts.join(" · ");
}

NextStep nextStep(std::span<const ProfileRow> rows, const nlohmann::json& result) {
    // Below this the gain drowns in what a step varies by anyway.
    constexpr double kWorthwhilePct = 3;
    static constexpr std::pair<const char*, const char*> kReplaceable[] = {
        {"RMSNorm", "rms_norm"}, {"Residual", "add_rms_norm"}, {"Rotary", "rope"}};
    NextStep next;
    double most = kWorthwhilePct;
    const std::vector<BestCase> cases = casesOf(rows, result);
    const bool oneClock = isOneGraph(rows);
    for (const ShareBar& bar : shareBars(rows, {})) {
        for (const auto& [type, op] : kReplaceable) {
            if (bar.name != type || !bar.share || *bar.share < most || *bar.share > 99) continue;
            const auto best = std::find_if(cases.begin(), cases.end(), [&](const BestCase& each) { return toQt(each.type) == bar.name; });
            if (best == cases.end()) continue;
            most = *bar.share;
            // Kernels have no wall clock of their own: their gain is the GPU's.
            next = {.type = bar.name, .op = op, .bySpan = best->bySpan.value_or(best->byGpu.value_or(1)), .byGpu = best->bySpan && !oneClock ? best->byGpu : std::nullopt};
        }
    }
    return next;
}

int layerOf(const std::string& path) {
    constexpr std::string_view kPrefix = "model.layers.";
    if (path.compare(0, kPrefix.size(), kPrefix) != 0) return -1;
    int layer = -1;
    std::from_chars(path.data() + kPrefix.size(), path.data() + path.size(), layer);
    return layer;
}

LayerMap layerMap(std::span<const ProfileModuleRow> modules, const std::string& phase) {
    LayerMap map;
    std::map<std::string, double> totals;
    std::map<std::pair<int, std::string>, LayerCell> cells;
    const bool whole = std::none_of(modules.begin(), modules.end(), [&](const ProfileModuleRow& module) {
        return module.phase == phase && module.layer && !module.type.empty() && module.selfSpanUs;
    });
    for (const ProfileModuleRow& module : modules) {
        if (module.phase != phase || !module.layer || (module.type.empty() && !whole)) continue;
        const int layer = int(*module.layer);
        map.layers = std::max(map.layers, layer + 1);
        LayerCell& cell = cells[{layer, module.type}];
        cell.spanUs += module.selfSpanUs.value_or(0);
        cell.gpuUs += module.selfGpuUs.value_or(0);
        if (whole && !module.type.empty()) cells[{layer, ""}].gpuUs += module.selfGpuUs.value_or(0);
        map.hasSpan |= module.selfSpanUs.has_value();
        map.hasGpu |= module.selfGpuUs.has_value();
        totals[module.type] += module.selfSpanUs.value_or(module.selfGpuUs.value_or(0));
    }
    for (const auto& [type, total] : totals) {
        if (total > 0) map.types.push_back(type);
    }
    std::stable_sort(map.types.begin(), map.types.end(),
                     [&](const std::string& a, const std::string& b) { return totals[a] > totals[b]; });
    for (int layer = 0; layer < map.layers; ++layer) {
        for (const std::string& type : map.types) {
            LayerCell cell = cells[{layer, type}];
            cell.layer = layer;
            cell.type = type;
            map.cells.push_back(std::move(cell));
        }
    }
    return map;
}

LayerMap withTimesOf(const LayerMap& map, bool gpu) {
    LayerMap kept{.layers = map.layers, .hasSpan = map.hasSpan, .hasGpu = map.hasGpu};
    for (const std::string& type : map.types) {
        const bool any = std::any_of(map.cells.begin(), map.cells.end(), [&](const LayerCell& cell) { return cell.type == type && (gpu ? cell.gpuUs : cell.spanUs) > 0; });
        if (any) kept.types.push_back(type);
    }
    std::copy_if(map.cells.begin(), map.cells.end(), std::back_inserter(kept.cells),
                 [&](const LayerCell& cell) { return std::find(kept.types.begin(), kept.types.end(), cell.type) != kept.types.end(); });
    return kept;
}

bool isOneGraph(std::span<const ProfileRow> rows) {
    return std::any_of(rows.begin(), rows.end(), [](const ProfileRow& row) { return row.name == "total" && row.spanUs && row.gpuUs && *row.spanUs == *row.gpuUs; });
}

bool ProfileSelection::keeps(const ProfileRow& row) const {
    if (empty()) return true;
    if (isClosingRow(row)) return type == toQt(row.name) && row.name == "unattributed";
    const bool wholeLayer = row.level == "block" && row.type.empty();  // holds every type
    if (!type.isEmpty() && toQt(row.type) != type && !(wholeLayer && layer >= 0)) return false;
    const std::string& path = row.level == "kernel" ? row.note : row.name;
    if (row.level == "type") return paths.empty() || paths.count(row.type) > 0;
    if (layer >= 0 && layerOf(path) != layer) return false;
    return paths.empty() || paths.count(path) > 0;
}

}  // namespace kernelscope::ui
