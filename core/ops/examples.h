#pragma once
// Numbers to try operators on: a function of seed and place alone, the same on every machine.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/ops/operator.h"

namespace kernelscope {

/// Contiguous on the CPU. Bell-shaped around 0 with deviation 1, times `scale`.
at::Tensor bellShaped(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, double scale = 1);

/// Uniform in [low, high): weights, whose mantissas tell rounding orders apart.
at::Tensor uniform(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, double low, double high);

/// Magnitudes of 300 (whose square is beyond float16) to 30,000, either sign.
at::Tensor huge(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream);

/// Writes a NaN, an infinity and a negative infinity into every 2nd, 5th and 11th row, at places that differ from row to row.
void plantNonfinite(at::Tensor& rows, std::uint64_t seed);

/// The input that `content` asks for.
at::Tensor exampleRows(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, Content content);

}  // namespace kernelscope
