#include "core/ops/torch_threads.h"

#include "core/model/parallel.h"

namespace kernelscope {
namespace {

/// A plain function of the C ABI that calls its _ex form with torch's threads.
template <auto kExtended, class Plain>
struct WithTorchThreads;
template <auto kExtended, class... Arguments>
struct WithTorchThreads<kExtended, int (*)(Arguments...)> {
    static int call(Arguments... arguments) {
        ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
        options.executor = torchThreads();
        return kExtended(arguments..., &options);
    }
};

}  // namespace

KernelFunction onTorchThreads(KernelFunction function) {
    if (function == KernelFunction(&ks_cpu_rms_norm)) return &WithTorchThreads<&ks_cpu_rms_norm_ex, RmsNormFunction>::call;
    if (function == KernelFunction(&ks_cpu_add_rms_norm)) return &WithTorchThreads<&ks_cpu_add_rms_norm_ex, AddRmsNormFunction>::call;
    if (function == KernelFunction(&ks_cpu_silu_mul)) return &WithTorchThreads<&ks_cpu_silu_mul_ex, SiluMulFunction>::call;
    if (function == KernelFunction(&ks_cpu_rope)) return &WithTorchThreads<&ks_cpu_rope_ex, RopeFunction>::call;
    return function;
}

}  // namespace kernelscope
