#include "ui/models/kernel_evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <QStringList>

#include "core/records/row_key.h"
#include "ui/text.h"

namespace kernelscope::ui {
namespace {

std::vector<double> numbersIn(const std::string& text) {
    std::vector<double> numbers;
    for (const QString& part : toQt(text).split(' ', Qt::SkipEmptyParts)) numbers.push_back(part == "inf" ? std::numeric_limits<double>::infinity() : part.toDouble());
    return numbers;
}

std::vector<double> sharesIn(const std::string& text) {
    std::vector<double> counts = numbersIn(text);
    const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (double& count : counts) count = all > 0 ? 100 * count / all : 0;
    return counts;
}

double worstOf(const ErrorMapRow& map) {
    const std::vector<double> ulp = numbersIn(map.ulp);
    return ulp.empty() ? -1 : *std::max_element(ulp.begin(), ulp.end());
}

QString value(const std::optional<double>& number) { return number ? QString::number(*number, 'g', 9) : QString("?"); }

}  // namespace

QStringList errorClassLabels() { return {"0", "≤ ¼", "≤ ½", "≤ 1", "≤ 2", "≤ 4", "≤ 8", "> 8"}; }

ErrorView errorView(std::span<const ErrorMapRow> maps, const KernelView& view, const std::string& key) {
    const ErrorMapRow* chosen = nullptr;
    if (!key.empty()) {
        const std::string shape = keyPrefix(key, 5);
        for (const ErrorMapRow& map : maps) {
            const std::string own = rowKey(map);
            if (own == key) chosen = &map;
            else if (!chosen && keyPrefix(own, 5) == shape) chosen = &map;
        }
    }
    if (!chosen) {
        double most = -1;
        for (const ErrorMapRow& map : maps) {
            if (map.op != view.op || map.variant != view.variant || (!view.dtype.empty() && map.dtype != view.dtype)) continue;
            const double worst = worstOf(map);
            if (worst <= most) continue;
            most = worst;
            chosen = &map;
        }
    }
    ErrorView result;
    if (!chosen) return result;
    const ErrorMapRow& map = *chosen;
    result.ulp = numbersIn(map.ulp);
    if (std::int64_t(result.ulp.size()) != map.rowBins * map.columnBins) return {};
    result.cell = QString("%1 %2 %3 × %4 %5, %6 of case %7").arg(toQt(map.op), toQt(map.variant)).arg(map.hidden).arg(map.rows).arg(toQt(map.dtype), toQt(map.output), toQt(map.caseName));
    result.rowBins = int(map.rowBins);
    result.columnBins = int(map.columnBins);
    result.rows = map.rows;
    result.columns = map.columns;
    for (const double ulp : result.ulp) if (std::isfinite(ulp)) result.most = std::max(result.most, ulp);
    result.share = sharesIn(map.histogram);
    result.nativeShare = sharesIn(map.nativeHistogram);
    result.worstRow = map.worstRow;
    result.worstColumn = map.worstColumn;
    result.worst = QString("row %1, column %2: got %3, native %4, float64 %5").arg(map.worstRow).arg(map.worstColumn).arg(value(map.got), value(map.native), value(map.exact));
    return result;
}

RooflineView rooflineView(std::span<const RooflineRow> work, std::span<const SweepRow> swept, const KernelView& view) {
    RooflineView result;
    std::map<std::pair<std::int64_t, std::int64_t>, const RooflineRow*> byShape;
    for (const RooflineRow& row : work) {
        if (row.op != view.op || row.dtype != view.dtype) continue;
        byShape[{row.hidden, row.rows}] = &row;
        if (row.copyGbPerS) result.copyGbPerS = *row.copyGbPerS;
        if (row.matmulGflopPerS) result.matmulGflopPerS = row.matmulGflopPerS;
    }
    for (const SweepRow& row : swept) {
        const bool inView = row.variant == view.variant;
        if (row.op != view.op || row.dtype != view.dtype || row.cache != view.cache || !row.deviceUs || (!inView && row.variant != "native")) continue;
        const auto found = byShape.find({row.hidden, row.rows});
        if (found == byShape.end() || !(found->second->bytes > 0) || !(*row.deviceUs > 0)) continue;
        const RooflineRow& shape = *found->second;
        RooflinePoint point{shape.flops / shape.bytes, shape.flops / *row.deviceUs / 1e3, inView, rowKey(row), {}};
        point.detail = QString("%1, %2 × %3: %4 GFLOP/s at %5 operations a byte, %6 GB/s").arg(toQt(row.variant)).arg(row.hidden).arg(row.rows)
                           .arg(figure(point.gflopPerS), figure(point.intensity), figure(shape.bytes / *row.deviceUs / 1e3));
        result.points.push_back(std::move(point));
    }
    // Native first, so that what the page is about lies on top.
    std::stable_partition(result.points.begin(), result.points.end(), [](const RooflinePoint& point) { return !point.inView; });
    return result;
}

QString RooflineView::sentence() const {
    if (empty()) return {};
    double best = 0, intensity = 0;
    for (const RooflinePoint& point : points) {
        if (!point.inView) continue;
        const double roof = std::min(point.intensity * copyGbPerS, matmulGflopPerS.value_or(std::numeric_limits<double>::infinity()));
        best = std::max(best, point.gflopPerS / roof);
        intensity = point.intensity;
    }
    QString text = QString("Copy %1 GB/s").arg(figure(copyGbPerS));
    if (matmulGflopPerS) {
        const double ridge = *matmulGflopPerS / copyGbPerS;
        text += QString(", matrix product %1 GFLOP/s: memory limits whatever does fewer than %2 operations a byte").arg(figure(*matmulGflopPerS), figure(ridge));
    }
    if (best > 0) text += QString(". These do %1 and come to %2 % of that roof at best").arg(figure(intensity), number(100 * best, 0));
    return text;
}

}  // namespace kernelscope::ui
