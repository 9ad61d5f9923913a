#include "core/client/compare_figures.h"

#include <map>

#include "core/records/json_read.h"
#include "core/records/kernel_rows.h"
#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {

namespace {

struct Metric {
    std::string_view column, unit;
    std::string_view low, high;  ///< columns of its interval, where there are any
};

constexpr Metric kProfileMetrics[] = {{"span_us", "us", "", ""}, {"gpu_us", "us", "", ""}};
constexpr Metric kSweepMetrics[] = {{"device_us", "us", "device_ci_low_us", "device_ci_high_us"}, {"call_us", "us", "", ""}};
constexpr Metric kEndToEndMetrics[] = {{"ttft_ms", "ms", "", ""}, {"decode_ms_per_token", "ms", "", ""}, {"total_ms", "ms", "", ""}};
constexpr Metric kGenerateMetrics[] = {{"ttft_ms", "ms", "", ""}, {"decode_ms_per_token", "ms", "", ""}, {"total_ms", "ms", "", ""}};
constexpr Metric kContextMetrics[] = {{"decode_ms_per_token", "ms", "decode_ci_low_ms", "decode_ci_high_ms"}};

std::span<const Metric> metricsOf(std::string_view kind) {
    if (kind == "context") return kContextMetrics;
    if (kind == "profile") return kProfileMetrics;
    if (kind == "sweep") return kSweepMetrics;
    if (kind == "e2e") return kEndToEndMetrics;
    return {};
}

std::optional<double> numberAt(const RowType& type, const Values& values, std::string_view column) {
    const int index = type.indexOf(column);
    if (index < 0) return std::nullopt;
    const double* number = std::get_if<double>(&values[static_cast<std::size_t>(index)]);
    return number ? std::optional(*number) : std::nullopt;
}

using SampleMap = std::map<std::pair<std::string, std::string>, std::vector<double>>;

Result<SampleMap> samplesOf(const Store& store, const RunHeader& header) {
    SampleMap samples;
    constexpr std::int64_t kPage = 10'000;  // records are many times as large as the values in them
    for (std::int64_t offset = 0;; offset += kPage) {
        const auto rows = store.rows(header.id, std::string(RowSchema<SampleRow>::kName), offset, kPage);
        if (!rows) return rows.error();
        for (const RowRecord& record : *rows)
            if (const auto row = rowFrom<SampleRow>(record.values)) samples[{row->rowKey, row->metric}].push_back(row->value);
        if (rows->empty()) return samples;
    }
}

}  // namespace

std::vector<Figure> pooled(const std::vector<std::vector<Figure>>& runs) {
    std::map<std::pair<std::string, std::string>, std::vector<double>> values;
    for (const auto& figures : runs)
        for (const Figure& figure : figures) values[{figure.key, figure.metric}].push_back(figure.value);
    std::vector<Figure> together;
    for (const auto& figures : runs)
        for (const Figure& figure : figures) {
            const auto found = values.find({figure.key, figure.metric});
            if (found == values.end() || found->second.size() < 2) continue;
            together.push_back({figure.key, figure.metric, figure.unit, median(found->second), figure.higherIsBetter, {}, {}, std::move(found->second)});
            values.erase(found);
        }
    return together;
}

bool isGpuAlone(const RunHeader& header, const Figure& figure) {
    if (!header.environment.contains("gpu")) return false;
    const auto mode = header.settings.find("mode");
    const bool graph = mode != header.settings.end() && *mode == "graph";
    return figure.metric == "gpu_us" || figure.metric == "device_us" || (header.kind == "profile" && graph);
}

double leastDifference(const RunHeader& header, const Figure& figure) {
    // The GPU's own time, host aside. The same build on an H200 in ten processes of one day: totals within 0.1 %, types within
    // 2 %; on two days: totals within 2 %, types within 5 %.
    constexpr double kGpu = 0.05;
    // Times in which the host enqueues. In the same ten processes a decode step took 7.9 to 13.0 ms by the clock, because that
    // host has other work; nothing within one process shows it.
    constexpr double kEnqueued = 0.7;
    // On a CPU: kernels of a sweep in six processes on a busy machine of two cores came within 6 % of each other. Passes of a model
    // there differed by a factor of several, where other programs held the cores: no bound covers that, and this one presumes none.
    constexpr double kCpu = 0.15;
    if (!header.environment.contains("gpu")) return kCpu;
    return isGpuAlone(header, figure) ? kGpu : kEnqueued;
}

bool standsForTheWhole(const std::string& kind, const std::string& key, const std::string& metric) {
    if (kind == "profile") return key.ends_with("|total") && metric == "span_us";
    if (kind == "sweep") return metric == "device_us";
    return metric == "total_ms";
}

Result<std::vector<Figure>> figuresOf(const Store& store, const RunHeader& header) {
    std::vector<Figure> figures;
    if (header.kind == "generate") {
        for (const Metric& metric : kGenerateMetrics) {
            const auto found = header.result.find(metric.column);
            if (found == header.result.end()) continue;
            if (const auto value = numberOf(*found)) figures.push_back({"run", std::string(metric.column), std::string(metric.unit), *value, false, {}, {}});
        }
        return figures;
    }
    const auto metrics = metricsOf(header.kind);
    const RowType* type = findRowType(header.kind);
    if (metrics.empty() || !type) return makeError(ErrorCode::badInput, "runs of kind '" + header.kind + "' hold no times to compare");
    const auto rows = store.rows(header.id, header.kind);
    if (!rows) return rows.error();
    auto samples = samplesOf(store, header);
    if (!samples) return samples.error();

    std::map<std::string, int> seen;
    for (const RowRecord& record : *rows) {
        // The tax is the profiler's own, and what is left over has no meaning as a ratio.
        std::string key = rowKey(*type, record.values);
        if (header.kind == "profile" && (key.ends_with("|profiler tax") || key.ends_with("|unattributed"))) continue;
        if (const int count = seen[key]++; count > 0) key += "#" + std::to_string(count + 1);  // the same kernel twice in a pass
        for (const Metric& metric : metrics) {
            const auto value = numberAt(*type, record.values, metric.column);
            if (!value) continue;
            Figure figure{key, std::string(metric.column), std::string(metric.unit), *value, false, {}, {}};
            auto found = samples->find({record.key, figure.metric});
            // A row that holds nothing else keeps samples of its self time alone, which is the same.
            if (found == samples->end() && metric.column == "span_us" && numberAt(*type, record.values, "self_span_us") == value)
                found = samples->find({record.key, "self_span_us"});
            if (found != samples->end()) figure.samples = found->second;
            const auto low = numberAt(*type, record.values, metric.low), high = numberAt(*type, record.values, metric.high);
            if (low && high) figure.interval = Interval{*low, *high};
            figures.push_back(std::move(figure));
        }
    }
    return figures;
}

}  // namespace kernelscope
