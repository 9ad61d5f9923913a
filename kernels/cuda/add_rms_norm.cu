// Residual add and rms_norm in one kernel on CUDA.

#include "kernels/cuda/norm_launch.cuh"

namespace kernelscope::kernels::cuda {

int addRmsNorm(const NormArguments& a, const ks_launch_options& options, void* stream) { return runNorm<true>(a, options, stream); }

}  // namespace kernelscope::kernels::cuda
