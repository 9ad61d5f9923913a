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

__device__ inline uint32_t sharedAddress(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

/// v[0] + ... + v[kCount - 1] in the fewest steps that wait for each other.
template <int kCount>
__device__ inline float treeSum(const float* v) {
    if constexpr (kCount == 1) return v[0];
    else return treeSum<kCount / 2>(v) + treeSum<kCount - kCount / 2>(v + kCount / 2);
}

/// Every thread adds up all kCount floats in shared memory, in the widest loads that the alignment of kCount floats allows.
template <int kCount>
__device__ inline float sumOfAll(uint32_t at) {
    constexpr int kWide = kCount % 4 == 0 ? 4 : kCount % 2 == 0 ? 2 : 1;
    float sums[kCount / kWide];
#pragma unroll
    for (int i = 0; i < kCount / kWide; ++i) {
        if constexpr (kWide == 4) {
            float a, b, c, d;
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(at + 16 * i) : "memory");
            sums[i] = (a + b) + (c + d);
        } else if constexpr (kWide == 2) {
            float a, b;
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(at + 8 * i) : "memory");
            sums[i] = a + b;
        } else {
            asm volatile("ld.shared.f32 %0, [%1];" : "=f"(sums[i]) : "r"(at + 4 * i) : "memory");
        }
    }
    return treeSum<kCount / kWide>(sums);
}

/// How the teams of kThreads threads of a block add up, and the shared floats that a team needs for it.
///
/// A full butterfly in every warp costs five shuffles; three leave one sum in each group of eight lanes, and reading the groups' sums back
/// is quicker than the other two, as long as there are few of them.
template <int kThreads>
class TeamSum {
public:
    static_assert(kThreads % 8 == 0 && kThreads <= 1024);
    static constexpr bool kOneWarp = kThreads == 32;
    static constexpr bool kFullWarps = kThreads % 32 == 0 && kThreads >= 448;
    static constexpr int kLanes = kFullWarps ? 32 : 8;  // that one partial sum is of
    static constexpr int kPartials = kOneWarp ? 1 : kThreads / kLanes;

    /// `partials`: kPartials floats of the team, aligned as many floats are; `thread` counts within the team.
    __device__ TeamSum(float* partials, int thread)
        : m_read(sharedAddress(partials)), m_write(m_read + static_cast<uint32_t>(thread / kLanes) * 4), m_writes(thread % kLanes == 0) {}

    /// Addresses that are to be ready before a wait (programmatic.cuh).
    __device__ void pin() { asm volatile("" : "+r"(m_read), "+r"(m_write)); }

    /// Every thread gets the sum. `barrier` holds back all threads of the team; the partials may be written again after one more of it.
    template <class Barrier>
    __device__ float sum(float v, Barrier barrier) const {
        return sum(v, 0, barrier);
    }

    /// The same on another set of partials, `offset` bytes further on.
    template <class Barrier>
    __device__ float sum(float v, uint32_t offset, Barrier barrier) const {
        if constexpr (kOneWarp) {
            return warpSum(v);
        } else {
#pragma unroll
            for (int lane = kLanes / 2; lane > 0; lane >>= 1) v += __shfl_xor_sync(0xffffffffu, v, lane);
            if (m_writes) asm volatile("st.shared.f32 [%0], %1;" ::"r"(m_write + offset), "f"(v) : "memory");
            barrier();
            return sumOfAll<kPartials>(m_read + offset);
        }
    }

private:
    uint32_t m_read;
    uint32_t m_write;
    bool m_writes;
};

/// 1 / sqrt(v) for a normal v: what rsqrtf gives without its care for denormals.
__device__ inline float rsqrtNormal(float v) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
    return result;
}

}  // namespace kernelscope::kernels::cuda
