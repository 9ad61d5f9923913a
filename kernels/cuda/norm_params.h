#pragma once
// What every norm kernel gets. Pointers are void*, so that one struct serves all types; strides count elements.

#include <cstdint>

namespace kernelscope::kernels::cuda {

struct NormParams {
    void* out;
    void* residualOut;
    const void* x;
    const void* residual;
    const void* weight;
    int64_t xStride;
    int64_t residualStride;
    int64_t outStride;
    int64_t residualOutStride;
    int64_t rows;
    int64_t hidden;
    float eps;
    float inverseHidden;
    int trigger;         // ks_trigger
    int prefetchBlocks;  // blocks below this number fetch their rows into L2 before the wait
};

}  // namespace kernelscope::kernels::cuda
