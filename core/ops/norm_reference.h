#pragma once
// What the two norm operators share: the oracle and the other rounding order.

#include <ATen/core/Tensor.h>

namespace kernelscope {

/// In float64 from the values as they are.
at::Tensor exactNorm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// x * rsqrt(mean(x^2) + eps) * weight in float32, rounded to the type once, at the end: as accurate as the native order or
/// more so, but another function in 16-bit types.
at::Tensor normRoundedOnce(const at::Tensor& x, const at::Tensor& weight, double eps);

}  // namespace kernelscope
