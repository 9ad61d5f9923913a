// Stands in for the CUDA backend in a build without CUDA.

#include "kernels/common/backend.h"
#include "kernels/common/builtin_cuda.h"
#include "kernels/common/status.h"

namespace kernelscope::kernels {

const char* cudaErrorText(int) { return "a CUDA error, from a library built without CUDA"; }

void appendCudaKernels(std::vector<KernelEntry>&) {}

namespace cuda {

int rmsNorm(const NormArguments&, const ks_launch_options&, void*) { return KS_ERROR_NO_CUDA; }
int addRmsNorm(const NormArguments&, const ks_launch_options&, void*) { return KS_ERROR_NO_CUDA; }
int siluMul(const SiluMulArguments&, const ks_launch_options&, void*) { return KS_ERROR_NO_CUDA; }
int rope(const RopeArguments&, const ks_launch_options&, void*) { return KS_ERROR_NO_CUDA; }
int configCount(int) { return 0; }
const char* configName(int, int) { return nullptr; }
int choose(int, int64_t, int64_t, int, ks_launch_options&) { return KS_ERROR_NO_CUDA; }
int useTable(std::span<const ks_table_entry>) { return KS_ERROR_NO_CUDA; }

}  // namespace cuda
}  // namespace kernelscope::kernels
