#pragma once
// silu(x) = x / (1 + exp(-x)) in float, as the native operator computes it, so that rounding to the type gives the same bits.

namespace kernelscope::kernels::cuda {

__device__ inline float silu(float x) { return __fdiv_rn(x, 1.0f + expf(-x)); }

/// The same quotient without the division's handling of extreme operands: right where 1 + exp(-x) is below 2^120, so for x > -80.
/// One Newton step on the reciprocal and one on the quotient leave at most the last bit of the float different.
__device__ inline float siluInRange(float x) {
    const float divisor = 1.0f + expf(-x);
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(divisor));
    reciprocal = fmaf(fmaf(-divisor, reciprocal, 1.0f), reciprocal, reciprocal);
    const float quotient = x * reciprocal;
    return fmaf(fmaf(-divisor, quotient, x), reciprocal, quotient);
}

constexpr float kSiluLowest = -80.0f;

}  // namespace kernelscope::kernels::cuda
