#pragma once
// Random weights from a counter: element i of tensor t depends on (seed, t, i) alone, so the numbers are the same for
// any number of threads, on any machine, and in every type (a float32 value, then rounded). torch's normal_ is
// sequential and takes 11 s for half a billion numbers on two cores; this is bound by memory.

#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>

namespace kernelscope {

/// value = mean + step * n, where n is an integer of about normal distribution (the sum of four 16-bit uniforms, centred)
/// with standard deviation 37837.
struct RandomDistribution {
    float mean = 0;
    float step = 0;
};

/// Matrices and biases: mean 0, standard deviation 0.02, the family's initializer_range. Norm weights: about 1, standard
/// deviation 0.07, so that leaving the weight out, or casting after it, shows.
RandomDistribution distributionOf(std::string_view tensorName);

/// Element `index` in float32.
float randomValue(const RandomDistribution& distribution, std::uint64_t seed, std::uint64_t tensor, std::uint64_t index);

/// Fills a contiguous CPU tensor of float32, float16 or bfloat16 with elements first, first + 1, ... over as many threads as ATen uses.
void fillRandom(const at::Tensor& out, const RandomDistribution& distribution, std::uint64_t seed, std::uint64_t tensor,
                std::uint64_t first = 0);

}  // namespace kernelscope
