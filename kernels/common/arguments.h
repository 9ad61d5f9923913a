#pragma once
// One struct per operator: the arguments of the C functions, so that checks and kernels do not pass a dozen values around.

#include <cstdint>

namespace kernelscope::kernels {

struct NormArguments {
    void* out = nullptr;
    void* residualOut = nullptr;  // null: no residual add
    const void* x = nullptr;
    const void* residual = nullptr;
    const void* weight = nullptr;
    int64_t rows = 0;
    int64_t hidden = 0;
    int64_t xStride = 0;
    int64_t residualStride = 0;
    int64_t outStride = 0;
    int64_t residualOutStride = 0;
    float eps = 0;
    int dtype = 0;
};

struct SiluMulArguments {
    void* out = nullptr;
    const void* gate = nullptr;
    const void* up = nullptr;
    int64_t rows = 0;
    int64_t width = 0;
    int64_t gateStride = 0;
    int64_t upStride = 0;
    int64_t outStride = 0;
    int dtype = 0;
};

struct RopeArguments {
    void* q = nullptr;
    void* k = nullptr;
    const float* cos = nullptr;
    const float* sin = nullptr;
    const int64_t* positions = nullptr;
    int64_t tokens = 0;
    int64_t qHeads = 0;
    int64_t kvHeads = 0;
    int64_t headDim = 0;
    int64_t qStride = 0;
    int64_t kStride = 0;
    int dtype = 0;
};

}  // namespace kernelscope::kernels
