#pragma once
// What a sweep says of itself at its end: cells by status, verdicts. Its headline is made by the client, which has the rows of earlier engines too.

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "core/records/kernel_rows.h"

namespace kernelscope {

class SweepTally {
public:
    void count(const SweepRow& row, const std::string& baseline);
    /// {"counts": by status, "verdicts": by word}; without the parts that nothing was counted in.
    [[nodiscard]] nlohmann::json toJson() const;

private:
    std::map<std::string, std::int64_t> m_statuses, m_verdicts;
};

}  // namespace kernelscope
