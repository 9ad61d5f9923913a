#include "core/engine/sweep_tally.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/records/format.h"
#include "core/records/statistics.h"

namespace kernelscope {

void SweepTally::count(const SweepRow& row, const std::string& baseline) {
    ++m_statuses[row.status];
    if (!row.speedup || row.variant == baseline) return;
    ++m_verdicts[row.verdict];
    m_speedups[row.variant].push_back(*row.speedup);
}

nlohmann::json SweepTally::toJson() const {
    nlohmann::json result = nlohmann::json::object();
    for (const auto& [status, count] : m_statuses) result["counts"][status] = count;
    for (const auto& [word, count] : m_verdicts) result["verdicts"][word] = count;
    return result;
}

std::string SweepTally::headline(const std::string& baseline) const {
    std::int64_t cells = 0;
    for (const auto& [status, count] : m_statuses) cells += count;
    std::vector<std::string> parts;
    for (const auto& [variant, speedups] : m_speedups) parts.push_back(fmt::format("{} {} (median)", variant, formatRatio(median(speedups))));
    const std::string text = fmt::format("{} cells", formatCount(cells));
    return parts.empty() ? text : text + fmt::format(", against {}: {}", baseline, fmt::join(parts, ", "));
}

}  // namespace kernelscope
