#include "kernels/include/kernelscope/builtin_kernels.h"

#include "kernels/common/builtin_cuda.h"

namespace kernelscope {

KernelTable builtinKernels() {
    std::vector<KernelEntry> entries{
        {KernelDevice::cpu, "rms_norm", "fused", "one pass over a row, vectors and threads", &ks_cpu_rms_norm},
        {KernelDevice::cpu, "add_rms_norm", "fused", "residual add and norm in one pass", &ks_cpu_add_rms_norm},
        {KernelDevice::cpu, "silu_mul", "fused", "activation and product in one pass", &ks_cpu_silu_mul},
        {KernelDevice::cpu, "rope", "fused", "q and k rotated in place in one pass", &ks_cpu_rope},
    };
    kernels::appendCudaKernels(entries);
    return KernelTable(std::move(entries));
}

}  // namespace kernelscope
