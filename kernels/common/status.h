#pragma once

namespace kernelscope::kernels {

/// The CUDA runtime's text for an error code; defined once with CUDA and once without.
const char* cudaErrorText(int error);

}  // namespace kernelscope::kernels
