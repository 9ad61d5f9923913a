#include "core/engine/sweep_tally.h"

namespace kernelscope {

void SweepTally::count(const SweepRow& row, const std::string& baseline) {
    ++m_statuses[row.status];
    if (!row.speedup || row.variant == baseline) return;
    ++m_verdicts[row.verdict];
}

nlohmann::json SweepTally::toJson() const {
    nlohmann::json result = nlohmann::json::object();
    for (const auto& [status, count] : m_statuses) result["counts"][status] = count;
    for (const auto& [word, count] : m_verdicts) result["verdicts"][word] = count;
    return result;
}

}  // namespace kernelscope
