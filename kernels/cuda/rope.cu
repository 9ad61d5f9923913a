// rope on CUDA: its kernel configurations, which one runs, and its grid.

#include <algorithm>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cuda/configs.h"
#include "kernels/cuda/dispatch_table.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tables.h"
#include "kernels/cuda/rope_kernels.cuh"

namespace kernelscope::kernels::cuda {
namespace {

using RopeKernel = void (*)(RopeParams);

struct RopeConfig {
    std::string_view name;  // THREADSxHEADS
    int threads;
    int heads;  // that a thread turns
    RopeKernel single;  // triggers after the wait
    // By where they trigger: on top, after the wait, nowhere (plain launch).
    RopeKernel half[3];
    RopeKernel bfloat16[3];

    [[nodiscard]] RopeKernel kernel(int dtype, int trigger) const {
        if (dtype == KS_FLOAT32) return single;
        return (dtype == KS_FLOAT16 ? half : bfloat16)[trigger == KS_TRIGGER_TOP ? 0 : trigger == kNoTrigger ? 2 : 1];
    }
};

template <int kThreads, int kHeads>
constexpr RopeConfig config(std::string_view name) {
    return {name,
            kThreads,
            kHeads,
            rope_vector_kernel<float, kThreads, kHeads, Trigger::afterWait>,
            {rope_vector_kernel<__half, kThreads, kHeads, Trigger::top>, rope_vector_kernel<__half, kThreads, kHeads, Trigger::afterWait>,
             rope_vector_kernel<__half, kThreads, kHeads, Trigger::none>},
            {rope_vector_kernel<__nv_bfloat16, kThreads, kHeads, Trigger::top>,
             rope_vector_kernel<__nv_bfloat16, kThreads, kHeads, Trigger::afterWait>,
             rope_vector_kernel<__nv_bfloat16, kThreads, kHeads, Trigger::none>}};
}

constexpr RopeConfig kConfigs[] = {
    config<32, 1>("32x1"), config<64, 1>("64x1"), config<128, 1>("128x1"), config<256, 1>("256x1"), config<512, 1>("512x1"),
    config<32, 2>("32x2"), config<64, 2>("64x2"), config<128, 2>("128x2"), config<256, 2>("256x2"), config<512, 2>("512x2"),
    config<32, 4>("32x4"), config<64, 4>("64x4"), config<128, 4>("128x4"), config<256, 4>("256x4"),
};
constexpr Grid kProgrammatic = resolve(kConfigs, kRopeProgrammatic);
constexpr Grid kPlain = resolve(kConfigs, kRopePlain);
/// For devices that nobody measured.
constexpr Choice kElsewhere = resolve(kConfigs, NamedChoice{"128x1", KS_TRIGGER_AFTER_WAIT, KS_PREFETCH_FIRST_WAVE, 0});

template <class T>
int run(const RopeArguments& a, const ks_launch_options& options, cudaStream_t stream) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    RopeParams p{a.q,       a.k,       a.cos,     a.sin,     a.positions, a.tokens,   a.qHeads,
                 a.kvHeads, a.headDim, a.qStride, a.kStride, 1,           kNoTrigger, 0, 0};
    Launch launch;
    launch.stream = stream;
    launch.programmatic = device.hasProgrammaticLaunch() && (options.flags & KS_FLAG_PLAIN_LAUNCH) == 0;
    constexpr int kBytes = sizeof(T);
    constexpr int64_t kElements = Vector<T>::kElements;
    const int64_t half = a.headDim / 2;
    const int64_t heads = a.qHeads + a.kvHeads;
    const bool vectors = half % kElements == 0 && heads < 65536 && half < 65536 &&
                         alignedTo16({a.q, a.tokens, a.headDim, a.qStride}, kBytes) &&
                         alignedTo16({a.k, a.tokens, a.headDim, a.kStride}, kBytes) && alignedTo16({a.cos, 1, 0, 0}, 4) &&
                         alignedTo16({a.sin, 1, 0, 0}, 4);
    Choice choice = kElsewhere;
    if (options.config >= 0)
        choice = {options.config, options.trigger, options.prefetch, options.blocks_per_sm};
    else if (const Choice* found = choiceFor(KS_ROPE, launch.programmatic ? kProgrammatic : kPlain, device, !launch.programmatic, a.tokens, a.qHeads * a.headDim))
        choice = *found;
    if (choice.config >= static_cast<int>(std::size(kConfigs)) || (options.config >= 0 && !vectors)) return KS_ERROR_CONFIG;
    const RopeConfig& config = kConfigs[choice.config];
    if (launch.programmatic) p.trigger = choice.trigger;
    const int64_t units = vectors ? (heads + config.heads - 1) / config.heads * (half / kElements) : 1;
    if (vectors && a.tokens < (int64_t{1} << 32) / units - config.threads) {
        p.unitsPerToken = static_cast<int>(units);
        launch.blocks = (a.tokens * units + config.threads - 1) / config.threads;
        launch.threads = config.threads;
        launch.sharedBytes = paddingFor(choice.blocksPerSm);
        if (launch.programmatic) p.prefetchBlocks = prefetchBlocks(choice.prefetch, device, config.threads, choice.blocksPerSm);
        if (launch.programmatic && choice.prefetch == KS_PREFETCH_TABLE) {
            const int64_t lines = 2 * ((a.headDim * 4 + 127) / 128);
            p.tableBlocks = static_cast<int>(std::min<int64_t>((a.tokens * lines + config.threads - 1) / config.threads, 4096));
            launch.blocks += p.tableBlocks;
        }
        return start(config.kernel(a.dtype, p.trigger), p, launch);
    }
    launch.threads = 128;
    launch.blocks = std::min<int64_t>(a.tokens, kMaxBlocks);
    return start(rope_loop_kernel<T>, p, launch);
}

}  // namespace

int rope(const RopeArguments& a, const ks_launch_options& options, void* stream) {
    auto* const on = static_cast<cudaStream_t>(stream);
    switch (a.dtype) {
        case KS_FLOAT32: return run<float>(a, options, on);
        case KS_FLOAT16: return run<__half>(a, options, on);
        default: return run<__nv_bfloat16>(a, options, on);
    }
}

ConfigList ropeConfigs() { return listOf(kConfigs, kProgrammatic, kPlain); }

}  // namespace kernelscope::kernels::cuda
