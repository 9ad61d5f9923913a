#pragma once
// Which configuration runs at a shape: the user's table of this device, else the built-in one, else a general rule.

#include <cstdint>

#include "kernels/cuda/choice.h"
#include "kernels/cuda/launch.h"

namespace kernelscope::kernels::cuda {

/// The cell for a shape on this device, or null where no table has one. `hidden` is the width for silu_mul and q_heads * head_dim for rope.
/// Any thread; costs an atomic read.
const Choice* choiceFor(int op, const Grid& builtIn, const Device& device, bool plain, int64_t rows, int64_t hidden);

}  // namespace kernelscope::kernels::cuda
