// rope on CUDA: which kernel, and its grid.

#include <algorithm>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rope_kernels.cuh"

namespace kernelscope::kernels::cuda {
namespace {

template <class T>
int run(const RopeArguments& a, const ks_launch_options& options, cudaStream_t stream) {
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    RopeParams p{a.q,      a.k,       a.cos,     a.sin,     a.positions, a.tokens,       a.qHeads,
                 a.kvHeads, a.headDim, a.qStride, a.kStride, 1,           KS_TRIGGER_TOP, 0};
    Launch launch;
    launch.stream = stream;
    launch.programmatic = device.computeCapability >= 90 && (options.flags & KS_FLAG_PLAIN_LAUNCH) == 0;
    constexpr int kBytes = sizeof(T);
    constexpr int64_t kElements = Vector<T>::kElements;
    const int64_t half = a.headDim / 2;
    const bool vectors = half % kElements == 0 && alignedTo16({a.q, a.tokens, a.headDim, a.qStride}, kBytes) &&
                         alignedTo16({a.k, a.tokens, a.headDim, a.kStride}, kBytes) && alignedTo16({a.cos, 1, 0, 0}, 4) &&
                         alignedTo16({a.sin, 1, 0, 0}, 4);
    constexpr int kThreads = 128;
    launch.threads = kThreads;
    const int64_t units = (a.qHeads + a.kvHeads) * (half / kElements);
    const int64_t perToken = (units + kThreads - 1) / kThreads;
    if (vectors && a.qHeads + a.kvHeads < 65536 && half < 65536 && perToken <= kMaxBlocks / a.tokens) {
        p.blocksPerToken = static_cast<int>(perToken);
        launch.blocks = perToken * a.tokens;
        return start(rope_vector_kernel<T, kThreads, 1>, p, launch);
    }
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

}  // namespace kernelscope::kernels::cuda
