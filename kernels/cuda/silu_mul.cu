// silu_mul on CUDA: its kernel configurations, which one runs, and its grid.

#include <algorithm>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cuda/configs.h"
#include "kernels/cuda/dispatch_table.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tables.h"
#include "kernels/cuda/silu_mul_kernels.cuh"

namespace kernelscope::kernels::cuda {
namespace {

using SiluMulKernel = void (*)(SiluMulParams);

struct SiluMulConfig {
    std::string_view name;  // THREADSxVECTORS
    int threads;
    int vectors;
    SiluMulKernel single;  // triggers after the wait
    // By where they trigger: on top, after the wait, after the loads, nowhere (plain launch).
    SiluMulKernel half[4];
    SiluMulKernel bfloat16[4];

    [[nodiscard]] SiluMulKernel kernel(int dtype, int trigger) const {
        if (dtype == KS_FLOAT32) return single;
        const int which = trigger == kNoTrigger ? 3 : trigger == KS_TRIGGER_TOP ? 0 : trigger == KS_TRIGGER_AFTER_LOADS ? 2 : 1;
        return (dtype == KS_FLOAT16 ? half : bfloat16)[which];
    }
};

template <int kThreads, int kVectors>
constexpr SiluMulConfig config(std::string_view name) {
    return {name,
            kThreads,
            kVectors,
            silu_mul_vector_kernel<float, kThreads, kVectors, Trigger::afterWait>,
            {silu_mul_vector_kernel<__half, kThreads, kVectors, Trigger::top>,
             silu_mul_vector_kernel<__half, kThreads, kVectors, Trigger::afterWait>,
             silu_mul_vector_kernel<__half, kThreads, kVectors, Trigger::afterLoads>,
             silu_mul_vector_kernel<__half, kThreads, kVectors, Trigger::none>},
            {silu_mul_vector_kernel<__nv_bfloat16, kThreads, kVectors, Trigger::top>,
             silu_mul_vector_kernel<__nv_bfloat16, kThreads, kVectors, Trigger::afterWait>,
             silu_mul_vector_kernel<__nv_bfloat16, kThreads, kVectors, Trigger::afterLoads>,
             silu_mul_vector_kernel<__nv_bfloat16, kThreads, kVectors, Trigger::none>}};
}

constexpr SiluMulConfig kConfigs[] = {
    config<32, 1>("32x1"),   config<64, 1>("64x1"),   config<128, 1>("128x1"), config<256, 1>("256x1"), config<512, 1>("512x1"),
    config<64, 2>("64x2"),   config<128, 2>("128x2"), config<256, 2>("256x2"), config<512, 2>("512x2"),
};
constexpr Grid kProgrammatic = resolve(kConfigs, kSiluMulProgrammatic);
constexpr Grid kPlain = resolve(kConfigs, kSiluMulPlain);
/// For devices that nobody measured.
constexpr Choice kElsewhere = resolve(kConfigs, NamedChoice{"256x1", KS_TRIGGER_AFTER_WAIT, KS_PREFETCH_FIRST_WAVE, 0});

SiluMulParams paramsOf(const SiluMulArguments& a) {
    SiluMulParams p{a.out, a.gate, a.up, a.gateStride, a.upStride, a.outStride, a.rows, a.width, 0, kNoTrigger, 0};
    // Without gaps between the rows the whole is one long row: no row ends inside a block.
    if (a.rows == 1 || (a.gateStride == a.width && a.upStride == a.width && a.outStride == a.width)) {
        p.width = a.rows * a.width;
        p.rows = 1;
    }
    return p;
}

template <class T>
int run(const SiluMulArguments& a, const ks_launch_options& options, cudaStream_t stream) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    SiluMulParams p = paramsOf(a);
    Launch launch;
    launch.stream = stream;
    launch.programmatic = device.hasProgrammaticLaunch() && (options.flags & KS_FLAG_PLAIN_LAUNCH) == 0;
    constexpr int kBytes = sizeof(T);
    const bool vectors = p.width % Vector<T>::kElements == 0 && alignedTo16({a.gate, p.rows, p.width, p.gateStride}, kBytes) &&
                         alignedTo16({a.up, p.rows, p.width, p.upStride}, kBytes) &&
                         alignedTo16({a.out, p.rows, p.width, p.outStride}, kBytes);
    Choice choice = kElsewhere;
    if (options.config >= 0)
        choice = {options.config, options.trigger, options.prefetch, options.blocks_per_sm};
    else if (const Choice* found = choiceFor(KS_SILU_MUL, launch.programmatic ? kProgrammatic : kPlain, device, !launch.programmatic, a.rows, a.width))
        choice = *found;
    if (choice.config >= static_cast<int>(std::size(kConfigs)) || (options.config >= 0 && !vectors)) return KS_ERROR_CONFIG;
    const SiluMulConfig& config = kConfigs[choice.config];
    if (launch.programmatic) p.trigger = choice.trigger;
    const int64_t chunk = vectors ? int64_t{config.threads} * config.vectors * Vector<T>::kElements : 256;
    int64_t perRow = (p.width + chunk - 1) / chunk;
    if (vectors && perRow <= kMaxBlocks / p.rows) {
        p.blocksPerRow = static_cast<int>(perRow);
        launch.blocks = perRow * p.rows;
        launch.threads = config.threads;
        launch.sharedBytes = paddingFor(choice.blocksPerSm);
        if (launch.programmatic) p.prefetchBlocks = prefetchBlocks(choice.prefetch, device, config.threads, choice.blocksPerSm);
        return start(config.kernel(a.dtype, p.trigger), p, launch);
    }
    perRow = std::min<int64_t>(perRow, 65536);
    p.blocksPerRow = static_cast<int>(perRow);
    launch.threads = 256;
    launch.blocks = p.rows < kMaxBlocks / perRow ? p.rows * perRow : kMaxBlocks;
    return start(silu_mul_loop_kernel<T>, p, launch);
}

}  // namespace

int siluMul(const SiluMulArguments& a, const ks_launch_options& options, void* stream) {
    auto* const on = static_cast<cudaStream_t>(stream);
    switch (a.dtype) {
        case KS_FLOAT32: return run<float>(a, options, on);
        case KS_FLOAT16: return run<__half>(a, options, on);
        default: return run<__nv_bfloat16>(a, options, on);
    }
}

ConfigList siluMulConfigs() { return listOf(kConfigs, kProgrammatic, kPlain); }

}  // namespace kernelscope::kernels::cuda
