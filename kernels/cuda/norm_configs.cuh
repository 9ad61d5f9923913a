#pragma once
// The instances of the norm kernels that a table may name. Built for 16-bit types; float32 takes the flexible kernel.

#include <string_view>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm_flex.cuh"
#include "kernels/cuda/norm_loop.cuh"
#include "kernels/cuda/norm_ring.cuh"
#include "kernels/cuda/norm_row.cuh"
#include "kernels/cuda/norm_two_pass.cuh"

namespace kernelscope::kernels::cuda {

using NormKernel = void (*)(NormParams);

struct NormConfig {
    std::string_view name;
    int threads;       // of one row (or team)
    int vectors;       // a thread
    int split;         // blocks a row
    int rowsPerBlock;  // or teams a block
    int stages;        // of the ring; 0: no ring
    // By where they trigger: on top, elsewhere, nowhere (plain launch).
    NormKernel half[3];
    NormKernel bfloat16[3];

    [[nodiscard]] NormKernel kernel(int dtype, int trigger) const {
        return (dtype == KS_FLOAT16 ? half : bfloat16)[trigger == KS_TRIGGER_TOP ? 0 : trigger == kNoTrigger ? 2 : 1];
    }
};

/// Names: THREADSxVECTORS, then s for the split, r for rows a block. The weight is loaded beside the row; the trigger is on top or after
/// the wait.
template <bool kAdd, int kThreads, int kVectors, int kSplit = 1, int kRows = 1>
constexpr NormConfig rowConfig(std::string_view name) {
    constexpr auto kEarly = WeightLoad::early;
    return {name, kThreads, kVectors, kSplit, kRows, 0,
            {norm_row_kernel<__half, kAdd, kThreads, kVectors, kSplit, kRows, kEarly, Trigger::top>,
             norm_row_kernel<__half, kAdd, kThreads, kVectors, kSplit, kRows, kEarly, Trigger::afterWait>,
             norm_row_kernel<__half, kAdd, kThreads, kVectors, kSplit, kRows, kEarly, Trigger::none>},
            {norm_row_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, kSplit, kRows, kEarly, Trigger::top>,
             norm_row_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, kSplit, kRows, kEarly, Trigger::afterWait>,
             norm_row_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, kSplit, kRows, kEarly, Trigger::none>}};
}

/// Names as above, then "late": the weight is loaded after the sum, which leaves registers for more blocks.
template <bool kAdd, int kThreads, int kVectors, int kRows = 1>
constexpr NormConfig lateConfig(std::string_view name) {
    constexpr auto kHalf = norm_row_kernel<__half, kAdd, kThreads, kVectors, 1, kRows, WeightLoad::late, Trigger::byParameter>;
    constexpr auto kBfloat16 = norm_row_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, 1, kRows, WeightLoad::late, Trigger::byParameter>;
    return {name, kThreads, kVectors, 1, kRows, 0, {kHalf, kHalf, kHalf}, {kBfloat16, kBfloat16, kBfloat16}};
}

/// Names as above, then "stream": what is read and written is the first to leave the caches. For long rows of a plain launch.
template <bool kAdd, int kThreads, int kVectors>
constexpr NormConfig streamConfig(std::string_view name) {
    constexpr auto kEarly = WeightLoad::early;
    constexpr auto kHalf = norm_row_kernel<__half, kAdd, kThreads, kVectors, 1, 1, kEarly, Trigger::byParameter, true>;
    constexpr auto kBfloat16 = norm_row_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, 1, 1, kEarly, Trigger::byParameter, true>;
    return {name, kThreads, kVectors, 1, 1, 0, {kHalf, kHalf, kHalf}, {kBfloat16, kBfloat16, kBfloat16}};
}

/// Names: ring THREADSxVECTORS, t for teams a block, then stages.
template <bool kAdd, int kThreads, int kVectors, int kTeams, int kStages>
constexpr NormConfig ringConfig(std::string_view name) {
    constexpr auto kHalf = norm_ring_kernel<__half, kAdd, kThreads, kVectors, kTeams, kStages>;
    constexpr auto kBfloat16 = norm_ring_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, kTeams, kStages>;
    return {name, kThreads, kVectors, 1, kTeams, kStages, {kHalf, kHalf, kHalf}, {kBfloat16, kBfloat16, kBfloat16}};
}

template <int kThreads, int kVectors>
constexpr NormConfig twoPassConfig(std::string_view name) {
    constexpr auto kHalf = norm_two_pass_kernel<__half, kThreads, kVectors>;
    constexpr auto kBfloat16 = norm_two_pass_kernel<__nv_bfloat16, kThreads, kVectors>;
    return {name, kThreads, kVectors, 1, 1, 0, {kHalf, kHalf, kHalf}, {kBfloat16, kBfloat16, kBfloat16}};
}

}  // namespace kernelscope::kernels::cuda
