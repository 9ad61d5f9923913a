#pragma once
// Which norm kernel runs, and its grid: shared by rms_norm.cu and add_rms_norm.cu.

#include <algorithm>
#include <cfloat>
#include <span>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cuda/choice.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm_configs.cuh"
#include "kernels/cuda/tables.h"

namespace kernelscope::kernels::cuda {

/// What rms_norm.cu and add_rms_norm.cu hand over: their configurations and the tables that point into them.
struct NormTables {
    std::span<const NormConfig> configs;
    const Grid& programmatic;
    const Grid& plain;
};

inline bool normRowsAligned(const NormArguments& a, int64_t bytes) {
    return a.hidden * bytes % 16 == 0 && alignedTo16({a.x, a.rows, a.hidden, a.xStride}, bytes) &&
           alignedTo16({a.out, a.rows, a.hidden, a.outStride}, bytes) && alignedTo16({a.weight, 1, a.hidden, a.hidden}, bytes) &&
           alignedTo16({a.residual, a.rows, a.hidden, a.residualStride}, bytes) &&
           alignedTo16({a.residualOut, a.rows, a.hidden, a.residualOutStride}, bytes);
}

/// True when an output is an input: then no other block may still need the row that a block stores.
inline bool normInPlace(const NormArguments& a, int64_t bytes) {
    const Rows x{a.x, a.rows, a.hidden, a.xStride};
    const Rows residual{a.residual, a.residual == nullptr ? 0 : a.rows, a.hidden, a.residualStride};
    const Rows out{a.out, a.rows, a.hidden, a.outStride};
    const Rows total{a.residualOut, a.residualOut == nullptr ? 0 : a.rows, a.hidden, a.residualOutStride};
    return overlap(out, x, bytes) != Overlap::none || overlap(out, residual, bytes) != Overlap::none ||
           overlap(total, x, bytes) != Overlap::none || overlap(total, residual, bytes) != Overlap::none;
}

/// Whether a configuration of a table can run this call; the caller has checked type, alignment and device.
inline bool normConfigFits(const NormConfig& config, const NormArguments& a) {
    constexpr int64_t kElements = 8;
    if (a.eps < FLT_MIN) return false;  // these kernels take the root of normal numbers only
    if (a.hidden > int64_t{config.threads} * config.vectors * kElements) return false;
    if (a.rows > kMaxBlocks / config.split) return false;
    return config.split == 1 || !normInPlace(a, 2);
}

template <bool kAdd>
int startConfig(const NormConfig& config, const Choice& choice, const NormArguments& a, NormParams p, const Device& device,
                Launch launch) {
    launch.threads = config.threads * config.rowsPerBlock;
    const int64_t groups = (a.rows + config.rowsPerBlock - 1) / config.rowsPerBlock;
    if (config.stages > 0) {
        const int perSm = std::max(1, choice.blocksPerSm);
        launch.sharedBytes = config.rowsPerBlock * config.stages * (kAdd ? 2 : 1) * ringRowBytes(a.hidden, 2);
        if (launch.sharedBytes + kMostStaticShared > kSharedPerBlock) return KS_ERROR_CONFIG;
        launch.blocks = std::min<int64_t>(groups, int64_t{device.multiprocessors} * perSm);
        p.prefetchBlocks = choice.prefetch == KS_PREFETCH_WEIGHT      ? 0
                           : choice.prefetch == KS_PREFETCH_HALF_WAVE ? static_cast<int>(launch.blocks) / 2
                                                                      : static_cast<int>(launch.blocks);
    } else {
        launch.blocks = groups * config.split;
        launch.sharedBytes = paddingFor(choice.blocksPerSm);
        p.prefetchBlocks = prefetchBlocks(choice.prefetch, device, launch.threads, choice.blocksPerSm);
    }
    p.trigger = launch.programmatic ? choice.trigger : kNoTrigger;
    if (!launch.programmatic) p.prefetchBlocks = 0;
    return start(config.kernel(a.dtype, p.trigger), p, launch);
}

/// The rule for every other shape and device.
template <class T, bool kAdd>
int startGeneral(const NormArguments& a, NormParams p, const Device& device, Launch launch) {
    launch.blocks = std::min(a.rows, kMaxBlocks);
    if (!launch.programmatic) p.trigger = kNoTrigger;
    // Many blocks of successors on the multiprocessors slow the ones that work, few do not.
    else p.trigger = launch.blocks <= device.multiprocessors / 4 ? KS_TRIGGER_TOP : KS_TRIGGER_AFTER_WAIT;
    const bool aligned = normRowsAligned(a, sizeof(T));
    const int64_t vectors = a.hidden / Vector<T>::kElements;
    if (!aligned || vectors > 4096) {
        const int64_t steps = aligned ? vectors : a.hidden;
        launch.threads = static_cast<int>(std::clamp<int64_t>((steps + 31) / 32 * 32, 32, 512));
        return aligned ? start(norm_loop_kernel<T, kAdd, true>, p, launch) : start(norm_loop_kernel<T, kAdd, false>, p, launch);
    }
    // One vector a thread is quickest for a few rows; for many rows two, so that more bytes are on their way; never above 512 threads.
    const bool few = a.rows <= 4 * device.multiprocessors;
    const int perThread = vectors > 2048 ? 8 : vectors > 1024 ? 4 : vectors > 512 || (!few && vectors >= 128) ? 2 : 1;
    launch.threads = static_cast<int>(((vectors + perThread - 1) / perThread + 31) / 32 * 32);
    if (launch.programmatic) p.prefetchBlocks = prefetchBlocks(KS_PREFETCH_FIRST_WAVE, device, launch.threads, 0);
    switch (perThread) {
        case 1: return start(norm_flex_kernel<T, kAdd, 1>, p, launch);
        case 2: return start(norm_flex_kernel<T, kAdd, 2>, p, launch);
        case 4: return start(norm_flex_kernel<T, kAdd, 4>, p, launch);
        default: return start(norm_flex_kernel<T, kAdd, 8>, p, launch);
    }
}

template <bool kAdd>
int runNorm(const NormArguments& a, const NormTables& tables, const ks_launch_options& options, void* stream) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    const NormParams p{a.out, a.residualOut, a.x, a.residual, a.weight, a.xStride, a.residualStride, a.outStride,
                       a.residualOutStride, a.rows, a.hidden, a.eps, 1.0f / static_cast<float>(a.hidden), kNoTrigger, 0};
    Launch launch;
    launch.stream = static_cast<cudaStream_t>(stream);
    launch.programmatic = device.hasProgrammaticLaunch() && (options.flags & KS_FLAG_PLAIN_LAUNCH) == 0;
    const bool tableKernels = a.dtype != KS_FLOAT32 && device.hasProgrammaticLaunch() && normRowsAligned(a, 2);
    if (options.config >= 0) {
        const auto index = static_cast<size_t>(options.config);
        if (!tableKernels || index >= tables.configs.size() || !normConfigFits(tables.configs[index], a)) return KS_ERROR_CONFIG;
        const Choice choice{options.config, options.trigger, options.prefetch, options.blocks_per_sm};
        return startConfig<kAdd>(tables.configs[index], choice, a, p, device, launch);
    }
    if (tableKernels) {
        const Choice* choice = choiceFor(kAdd ? KS_ADD_RMS_NORM : KS_RMS_NORM, launch.programmatic ? tables.programmatic : tables.plain, device,
                                         !launch.programmatic, a.rows, a.hidden);
        if (choice != nullptr && normConfigFits(tables.configs[static_cast<size_t>(choice->config)], a))
            return startConfig<kAdd>(tables.configs[static_cast<size_t>(choice->config)], *choice, a, p, device, launch);
    }
    switch (a.dtype) {
        case KS_FLOAT32: return startGeneral<float, kAdd>(a, p, device, launch);
        case KS_FLOAT16: return startGeneral<__half, kAdd>(a, p, device, launch);
        default: return startGeneral<__nv_bfloat16, kAdd>(a, p, device, launch);
    }
}

}  // namespace kernelscope::kernels::cuda
