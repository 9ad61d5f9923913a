#pragma once
// Whether a cell fits the memory, asked before it is made: a CPU would promise any amount and end the process later.

#include <cstdint>
#include <optional>
#include <string>

#include "core/device/device.h"
#include "core/ops/operator.h"

namespace kernelscope {

/// What validating one variant holds at once, in bytes, from above: inputs, their guarded copies, results, references and temporaries.
std::int64_t bytesToValidate(const Operator& op, const OperatorShape& shape, at::ScalarType dtype);

/// What timing `variants` of them in shared rounds holds at once: each has buffers of its own.
std::int64_t bytesToTime(const Operator& op, const OperatorShape& shape, at::ScalarType dtype, std::int64_t variants);

/// Needed and free in words where it does not fit, else nothing.
std::optional<std::string> misfit(std::int64_t neededBytes, const Device& device);

}  // namespace kernelscope
