#include "core/measure/span_table.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "core/records/statistics.h"

namespace kernelscope {
namespace {

/// Name of the row that a module's self time counts to.
std::string rowName(const ModuleInfo& module, ProfileLevel level) {
    return level == ProfileLevel::type ? std::string(toString(module.type)) : module.path;
}

double sum(const std::vector<double>& values) {
    double total = 0;
    for (double value : values) total += value;
    return total;
}

}  // namespace

RowGroups makeRowGroups(const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    RowGroups made;
    std::vector<bool> hasTimedChild(modules.size(), false);
    for (const ModuleInfo& module : modules) {
        if (module.parent >= 0 && isTimedAt(level, module)) hasTimedChild[static_cast<std::size_t>(module.parent)] = true;
    }
    std::map<std::string, int> index;
    for (const ModuleInfo& module : modules) {
        if (!isTimedAt(level, module)) {
            made.groupOf.push_back(-1);
            continue;
        }
        const std::string name = rowName(module, level);
        const auto [it, isNew] = index.emplace(name, static_cast<int>(made.groups.size()));
        if (isNew) made.groups.push_back({name, std::string(toString(module.type)), hasTimedChild[static_cast<std::size_t>(module.index)]});
        made.groupOf.push_back(it->second);
    }
    return made;
}

SpanTable::SpanTable(std::string phase, ProfileLevel level, const std::vector<ModuleInfo>& modules)
    : m_phase(std::move(phase)),
      m_level(level),
      m_groups(makeRowGroups(modules, level)),
      m_series(m_groups.groups.size()),
      m_byModule(modules.size()) {}

void SpanTable::addInstrumented(const PassSpans& whole, const std::vector<PassSpans>& round) {
    const std::size_t number = m_totalUs.size();
    for (Series& series : m_series) {
        series.selfUs.push_back(0);
        series.spanUs.push_back(0);
        series.calls.push_back(0);
    }
    double covered = 0;
    for (const Visit& visit : whole.visits) {
        const auto module = static_cast<std::size_t>(visit.module);
        Series& series = m_series[static_cast<std::size_t>(m_groups.groupOf[module])];
        series.selfUs[number] += visit.selfUs;
        series.spanUs[number] += visit.spanUs;
        series.calls[number] += 1;
        covered += visit.selfUs;
        m_byModule[module].resize(number, 0.0);
        m_byModule[module].push_back(visit.selfUs);
    }
    m_totalUs.push_back(whole.totalUs);
    m_unattributedUs.push_back(whole.totalUs - covered);
    for (const PassSpans& pass : round) m_instrumentedUs.push_back(pass.totalUs);
}

ProfileRow SpanTable::baseRow(const std::string& name, const std::string& type) const {
    ProfileRow row;
    row.phase = m_phase;
    row.level = std::string(toString(m_level));
    row.name = name;
    row.type = type;
    return row;
}

std::string SpanTable::keyOf(const std::string& rowName) const { return fmt::format("{}/{}/{}", m_phase, toString(m_level), rowName); }

std::vector<ProfileRow> SpanTable::rows(bool withIntervals) const {
    std::vector<ProfileRow> rows;
    if (m_totalUs.empty()) return rows;
    const double total = sum(m_totalUs);
    const bool sharesVary = m_totalUs.size() > 1;  // of one whole pass alone nobody knows how much they do
    const auto fillShare = [&](ProfileRow& row, const std::vector<double>& selfUs) {
        row.selfSpanUs = median(selfUs);
        row.spanSharePct = 100.0 * sum(selfUs) / total;
        if (!withIntervals || !sharesVary) return;
        const Interval share = bootstrapRatioOfSums(selfUs, m_totalUs);
        row.spanShareCiLowPct = 100.0 * share.low;
        row.spanShareCiHighPct = 100.0 * share.high;
    };

    for (std::size_t group = 0; group < m_series.size(); ++group) {
        const Series& series = m_series[group];
        if (series.calls.back() == 0) continue;  // fused away by a patch
        ProfileRow row = baseRow(m_groups.groups[group].name, m_groups.groups[group].type);
        row.calls = series.calls.back();
        if (!m_groups.groups[group].selfOnly) row.spanUs = median(series.spanUs);
        fillShare(row, series.selfUs);
        rows.push_back(std::move(row));
    }

    ProfileRow unattributed = baseRow("unattributed", "unattributed");
    unattributed.spanUs = median(m_unattributedUs);
    fillShare(unattributed, m_unattributedUs);
    rows.push_back(std::move(unattributed));

    ProfileRow whole = baseRow("total", "total");
    whole.calls = 1;
    whole.spanUs = median(m_instrumentedUs);
    whole.spanSharePct = 100.0;
    rows.push_back(std::move(whole));

    ProfileRow tax = baseRow("profiler tax", "profiler tax");
    if (!m_plainUs.empty()) {
        const double plain = median(m_plainUs);
        tax.spanUs = median(m_instrumentedUs) - plain;
        // Neighbouring passes are drawn as one: a host that is slow for a while is slow for both. Of a run that was ended early the last have no neighbour.
        const std::size_t pairs = std::min(m_instrumentedUs.size(), m_plainUs.size());
        const bool canTell = pairs > 1 || !withIntervals;  // two single passes differ by more than a tax
        if (canTell) tax.spanSharePct = 100.0 * (median(m_instrumentedUs) / plain - 1.0);
        if (withIntervals && pairs > 1) {
            const Interval ratio = bootstrapPairedRatioOfMedians(std::span(m_instrumentedUs).first(pairs), std::span(m_plainUs).first(pairs));
            tax.spanShareCiLowPct = 100.0 * (ratio.low - 1.0);
            tax.spanShareCiHighPct = 100.0 * (ratio.high - 1.0);
        }
    }
    rows.push_back(std::move(tax));
    return rows;
}

std::vector<SampleRow> SpanTable::samples() const {
    std::vector<SampleRow> samples;
    const auto append = [&](const std::string& name, const std::string& metric, const std::vector<double>& values) {
        for (std::size_t pass = 0; pass < values.size(); ++pass) {
            samples.push_back({keyOf(name), metric, static_cast<std::int64_t>(pass), values[pass]});
        }
    };
    for (std::size_t group = 0; group < m_series.size(); ++group) {
        if (!m_series[group].calls.empty() && m_series[group].calls.back() > 0) append(m_groups.groups[group].name, "self_span_us", m_series[group].selfUs);
    }
    append("unattributed", "self_span_us", m_unattributedUs);
    append("total", "span_us", m_instrumentedUs);
    append("total", "plain_span_us", m_plainUs);
    return samples;
}

std::vector<std::optional<double>> SpanTable::medianSelfByModule() const {
    std::vector<std::optional<double>> medians;
    for (const auto& passes : m_byModule) medians.push_back(passes.empty() ? std::optional<double>() : median(passes));
    return medians;
}

}  // namespace kernelscope
