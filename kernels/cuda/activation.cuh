#pragma once
// silu(x) = x / (1 + exp(-x)) in float, as the native operator computes it, so that rounding to the type gives the same bits.

#include <cfloat>

namespace kernelscope::kernels::cuda {

__device__ inline float silu(float x) { return __fdiv_rn(x, 1.0f + expf(-x)); }

/// The same without branches, for 16-bit types: the quotient may miss the correctly rounded float by its last bit, which hardly ever shows
/// in 16. Far below zero the divisor is scaled, so that its reciprocal stays a normal number.
__device__ inline float siluWithoutBranches(float x) {
    const float scale = x < -64.0f ? 0x1p-8f : 1.0f;
    const float divisor = fminf((1.0f + expf(-x)) * scale, FLT_MAX);
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(divisor));
    reciprocal = fmaf(fmaf(-divisor, reciprocal, 1.0f), reciprocal, reciprocal);
    const float quotient = x * reciprocal;
    const float corrected = fmaf(fmaf(-divisor, quotient, x), reciprocal, quotient);
    return (corrected == corrected ? corrected : quotient) * scale;  // infinity minus infinity: the first quotient was right
}

}  // namespace kernelscope::kernels::cuda
