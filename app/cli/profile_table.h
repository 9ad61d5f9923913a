#pragma once
// A profile as a table for a terminal.

#include <span>
#include <string>

#include "core/records/run.h"

namespace kernelscope::cli {

/// `result`: what the run keeps beside its rows, for the sentences around the table.
std::string profileTable(std::span<const RowRecord> rows, const nlohmann::json& result = {});

/// GPU time beside the driver's trace; `rows` are of type profile_cross_check.
std::string crossCheckTable(std::span<const RowRecord> rows);

}  // namespace kernelscope::cli
