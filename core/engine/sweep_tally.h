#pragma once
// What a sweep says of itself at its end: cells by status, verdicts, the median speed-up of each variant.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/records/kernel_rows.h"

namespace kernelscope {

class SweepTally {
public:
    void count(const SweepRow& row, const std::string& baseline);
    /// {"counts": by status, "verdicts": by word}; without the parts that nothing was counted in.
    [[nodiscard]] nlohmann::json toJson() const;
    /// "720 cells, against native: aten 4.1x (median), fused 7.9x (median)"
    [[nodiscard]] std::string headline(const std::string& baseline) const;

private:
    std::map<std::string, std::int64_t> m_statuses, m_verdicts;
    std::map<std::string, std::vector<double>> m_speedups;  // by variant
};

}  // namespace kernelscope
