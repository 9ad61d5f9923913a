// rms_norm on CUDA.

#include "kernels/cuda/norm_launch.cuh"

namespace kernelscope::kernels::cuda {

int rmsNorm(const NormArguments& a, const ks_launch_options& options, void* stream) { return runNorm<false>(a, options, stream); }

}  // namespace kernelscope::kernels::cuda
