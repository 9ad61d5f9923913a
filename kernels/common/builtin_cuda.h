#pragma once

#include <vector>

#include "kernels/include/kernelscope/builtin_kernels.h"

namespace kernelscope::kernels {

/// Appends the CUDA kernels; does nothing in a build without CUDA.
void appendCudaKernels(std::vector<KernelEntry>& entries);

}  // namespace kernelscope::kernels
