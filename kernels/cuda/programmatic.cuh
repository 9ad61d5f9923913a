#pragma once
// Programmatic dependent launch. A kernel launched with the attribute may start before its predecessor has ended, so:
// - waitForPredecessor() comes before the first global read or write; after it everything the predecessor wrote is visible. Every kernel
//   here executes it, also one that triggers first: then order is transitive over a chain.
// - triggerSuccessor() lets the next kernel start. It makes nothing visible, so it may come first of all.
// - fetching lines into L2 before the wait is no hazard: L2 is where the predecessor's writes land.
// Below compute capability 9.0, and without the attribute, all of this is nothing.

#include <cstdint>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels::cuda {

__device__ inline void waitForPredecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ inline void triggerSuccessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// `point` is where the kernel stands; triggers there if the launch asks for it.
__device__ inline void triggerAt(ks_trigger point, int wanted) {
    if (wanted == point) triggerSuccessor();
}

/// Asks L2 for `bytes` from `address`; both must be multiples of 16.
__device__ inline void prefetchToL2(const void* address, uint32_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(address)), "r"(bytes) : "memory");
#endif
}

/// The same for the cache line that holds `address`, thread by thread.
__device__ inline void prefetchLine(const void* address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)) : "memory");
#endif
}

}  // namespace kernelscope::kernels::cuda
