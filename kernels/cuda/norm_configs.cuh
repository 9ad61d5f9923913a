#pragma once
// The instances of the norm kernels that a table may name. Built for 16-bit types; float32 takes the flexible kernel.

#include <string_view>

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
    NormKernel half;
    NormKernel bfloat16;
};

/// Names: THREADSxVECTORS, then s for the split, r for rows a block, "late" where the weight is loaded after the sum.
template <bool kAdd, int kThreads, int kVectors, int kSplit = 1, int kRows = 1, WeightLoad kWeight = WeightLoad::early>
constexpr NormConfig rowConfig(std::string_view name) {
    return {name, kThreads, kVectors, kSplit, kRows, 0, norm_row_kernel<__half, kAdd, kThreads, kVectors, kSplit, kRows, kWeight>,
            norm_row_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, kSplit, kRows, kWeight>};
}

template <bool kAdd, int kThreads, int kVectors, int kRows = 1>
constexpr NormConfig lateConfig(std::string_view name) {
    return rowConfig<kAdd, kThreads, kVectors, 1, kRows, WeightLoad::late>(name);
}

/// Names: ring THREADSxVECTORS, t for teams a block, then stages.
template <bool kAdd, int kThreads, int kVectors, int kTeams, int kStages>
constexpr NormConfig ringConfig(std::string_view name) {
    return {name, kThreads, kVectors, 1, kTeams, kStages, norm_ring_kernel<__half, kAdd, kThreads, kVectors, kTeams, kStages>,
            norm_ring_kernel<__nv_bfloat16, kAdd, kThreads, kVectors, kTeams, kStages>};
}

template <int kThreads, int kVectors>
constexpr NormConfig twoPassConfig(std::string_view name) {
    return {name, kThreads, kVectors, 1, 1, 0, norm_two_pass_kernel<__half, kThreads, kVectors>,
            norm_two_pass_kernel<__nv_bfloat16, kThreads, kVectors>};
}

}  // namespace kernelscope::kernels::cuda
