#pragma once
// Sums over the threads of one row.

#include <cstdint>

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

/// Every thread adds up all kCount floats, in the widest loads that their alignment allows (that of kCount floats).
template <int kCount>
__device__ inline float sumOfAll(const float* partials) {
    float sum = 0.0f;
    if constexpr (kCount % 4 == 0) {
#pragma unroll
        for (int i = 0; i < kCount; i += 4) {
            const float4 four = *reinterpret_cast<const float4*>(partials + i);
            sum += (four.x + four.y) + (four.z + four.w);
        }
    } else if constexpr (kCount % 2 == 0) {
#pragma unroll
        for (int i = 0; i < kCount; i += 2) {
            const float2 two = *reinterpret_cast<const float2*>(partials + i);
            sum += two.x + two.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i) sum += partials[i];
    }
    return sum;
}

/// How the teams of kThreads threads of a block add up, and the shared floats that a team needs for it.
///
/// A full butterfly in every warp costs five shuffles; three leave one sum in each group of eight lanes, and reading the groups' sums back
/// is quicker than the other two, as long as there are few of them.
template <int kThreads>
struct TeamSum {
    static_assert(kThreads % 8 == 0 && kThreads <= 1024);
    static constexpr bool kOneWarp = kThreads == 32;
    static constexpr bool kFullWarps = kThreads % 32 == 0 && kThreads >= 448;
    static constexpr int kPartials = kOneWarp ? 0 : kFullWarps ? kThreads / 32 : kThreads / 8;
    static constexpr int kFloats = kPartials == 0 ? 1 : kPartials;

    /// `thread` counts within the team; `barrier` holds back all threads of the team. Every thread gets the sum. The same `partials` may be
    /// written again after one more such barrier.
    template <class Barrier>
    __device__ static float sum(float v, int thread, float* partials, Barrier barrier) {
        if constexpr (kOneWarp) {
            return warpSum(v);
        } else {
            if constexpr (kFullWarps) {
                v = warpSum(v);
                if (thread % 32 == 0) partials[thread / 32] = v;
            } else {
#pragma unroll
                for (int lane = 4; lane > 0; lane >>= 1) v += __shfl_xor_sync(0xffffffffu, v, lane);
                if (thread % 8 == 0) partials[thread / 8] = v;
            }
            barrier();
            return sumOfAll<kPartials>(partials);
        }
    }
};

/// 1 / sqrt(v) for a normal v: what rsqrtf gives without its care for denormals.
__device__ inline float rsqrtNormal(float v) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
    return result;
}

}  // namespace kernelscope::kernels::cuda
