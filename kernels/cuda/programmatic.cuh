#pragma once
// Programmatic dependent launch. A kernel launched with the attribute may start before its predecessor has ended, so:
// - waitForPredecessor() comes before the first global read or write; after it everything the predecessor wrote is visible. Every kernel
//   here executes it, also one that triggers first: then order is transitive over a chain.
// - triggerSuccessor() lets the next kernel start. It makes nothing visible, so it may come first of all.
// - fetching lines into L2 before the wait is no hazard: L2 is where the predecessor's writes land.
// What a kernel does before the wait is hidden behind its predecessor, what it does after it is not: addresses are computed before
// (pin, endPrologueAndWait), and where the trigger comes first of all it is a template parameter, because even reading it would take time.
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

/// Where a kernel triggers: fixed when it is compiled, or as its parameters say. `none` is for launches without the attribute only: nothing
/// is hidden then, so the kernel neither waits nor prepares anything for the time before a wait. (check_sass.py knows it by its number.)
enum class Trigger { top, afterWait, afterLoads, byParameter, none };

template <Trigger kTrigger>
__device__ inline void triggerOnTop(int wanted) {
    if constexpr (kTrigger == Trigger::top) triggerSuccessor();
    if constexpr (kTrigger == Trigger::byParameter)
        if (wanted == KS_TRIGGER_TOP) triggerSuccessor();
}
template <Trigger kTrigger>
__device__ inline void triggerAfterWait(int wanted) {
    if constexpr (kTrigger == Trigger::afterWait) triggerSuccessor();
    if constexpr (kTrigger == Trigger::byParameter)
        if (wanted == KS_TRIGGER_AFTER_WAIT) triggerSuccessor();
}

/// `point` is where the kernel stands; triggers there if the launch asks for it.
__device__ inline void triggerAt(ks_trigger point, int wanted) {
    if (wanted == point) triggerSuccessor();
}

template <Trigger kTrigger>
__device__ inline void triggerAfterLoads(int wanted) {
    if constexpr (kTrigger == Trigger::afterLoads) triggerSuccessor();
    if constexpr (kTrigger == Trigger::byParameter)
        if (wanted == KS_TRIGGER_AFTER_LOADS) triggerSuccessor();
}

/// Keeps a value that was computed before the wait from being computed after it: there, each instruction counts.
template <class P>
__device__ inline void pin(P*& pointer) {
    asm volatile("" : "+l"(pointer));
}
__device__ inline void pin(float& value) { asm volatile("" : "+f"(value)); }

/// Ends the basic block, across which the assembler moves nothing. `never` is false, but only the caller knows: a loop cannot be turned into
/// a predicated instruction. Each place in a kernel needs a condition of its own: behind the first place the compiler knows that one is false.
__device__ inline void endBasicBlock(bool never) {
    if (never)
        for (;;) asm volatile("nanosleep.u32 1000;" ::: "memory");
}

/// Address arithmetic stays before the wait.
template <Trigger kTrigger>
__device__ inline void endPrologueAndWait(bool never) {
    if constexpr (kTrigger != Trigger::none) {
        endBasicBlock(never);
        waitForPredecessor();
    }
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
