#pragma once
// From error figures to a status. The gates are those of the measuring rules.

#include <string>

#include <ATen/core/Tensor.h>

#include "core/measure/error_stats.h"

namespace kernelscope {

struct Judgement {
    std::string status;  ///< ok, other_order or wrong
    std::string reason;  ///< in words; empty for ok
};

/// `rows` is how many rows the figures come from: elements of a row share the rounding of its mean.
Judgement judge(const ErrorStats& stats, at::ScalarType dtype, std::int64_t rows);

}  // namespace kernelscope
