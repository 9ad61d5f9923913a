#pragma once
// The sentence above a profile, computed from its rows.

#include <span>
#include <string>

#include "core/records/kernel_rows.h"
#include <nlohmann/json.hpp>

#include "core/records/rows.h"

namespace kernelscope {

/// What a profile says, phase by phase:
///   CPU:  "Decode 6.21 ms a token · memory-bound (its bytes take 5.9 ms at the copy rate) · Attention 48 %, then MLP 20 %"
///   GPU:  "Decode 6.21 ms a token · GPU busy 1.83 ms (29 %) · launch-bound · RMSNorm is 21 % of the gaps"
/// The time is the plain pass (the instrumented total less the profiler tax, where that is known). What bounds the pass is verdict.h's; without the
/// run's result, which holds work and rates, only launch-bound can be told. Empty when no row is a total.
std::string profileHeadline(std::span<const ProfileRow> rows, const nlohmann::json& result = {});

/// The same of one phase, "decode" or "prefill".
std::string phaseHeadline(std::span<const ProfileRow> rows, std::string_view phase, const nlohmann::json& result = {});

/// What a validation says: "60 checks: 58 ok, 2 wrong".
std::string validateHeadline(std::span<const ValidateRow> rows);

/// What a sweep says: "24 cells (1 crashed), against native: aten 2.10x, fused 13.20x (geometric mean)". Of cells whose speed-up can be told.
std::string sweepHeadline(std::span<const SweepRow> rows, std::string_view baseline);

}  // namespace kernelscope
