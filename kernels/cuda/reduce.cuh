#pragma once
// Sums over the threads of one row.

namespace kernelscope::kernels::cuda {

__device__ inline float warpSum(float v) {
#pragma unroll
    for (int lane = 16; lane > 0; lane >>= 1) v += __shfl_xor_sync(0xffffffffu, v, lane);
    return v;
}

/// Sum over a block of any number of full warps; every thread gets it. `partials` holds 32 floats and may be used again after the next
/// block-wide barrier.
__device__ inline float blockSum(float v, float* partials) {
    v = warpSum(v);
    const int warps = static_cast<int>(blockDim.x) / 32;
    if (warps == 1) return v;
    if (threadIdx.x % 32 == 0) partials[threadIdx.x / 32] = v;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return warpSum(lane < warps ? partials[lane] : 0.0f);
}

}  // namespace kernelscope::kernels::cuda
