#include "core/ops/examples.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "core/model/counter_hash.h"
#include "core/model/parallel.h"

namespace kernelscope {
namespace {

constexpr std::int64_t kGrain = 1 << 16;

template <typename Make>
at::Tensor filled(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, const Make& make) {
    at::Tensor tensor = at::empty(sizes, at::TensorOptions().dtype(dtype));
    const std::uint64_t key = counterKey(seed, stream);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "filled", [&] {
        scalar_t* out = tensor.data_ptr<scalar_t>();
        parallelRanges(tensor.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<scalar_t>(make(counterHash(key, static_cast<std::uint64_t>(i))));
        });
    });
    return tensor;
}

float unit(std::uint64_t bits) { return static_cast<float>(bits & 0xffffU) / 65536.0F; }

}  // namespace

at::Tensor bellShaped(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, double scale) {
    // Four uniforms of variance 1/12 each: near enough to normal, and no logarithm. 65,536 steps each leave mantissas random.
    const auto factor = static_cast<float>(scale * std::sqrt(3.0));
    return filled(sizes, dtype, seed, stream,
                  [factor](std::uint64_t bits) { return factor * (unit(bits) + unit(bits >> 16) + unit(bits >> 32) + unit(bits >> 48) - 2.0F); });
}

at::Tensor uniform(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, double low, double high) {
    return filled(sizes, dtype, seed, stream, [low, high](std::uint64_t bits) {
        return static_cast<float>(low + (high - low) * static_cast<double>(bits >> 11) * 0x1p-53);
    });
}

at::Tensor huge(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream) {
    return filled(sizes, dtype, seed, stream, [](std::uint64_t bits) {
        const float magnitude = 300.0F * std::pow(100.0F, unit(bits));
        return (bits >> 63) != 0 ? -magnitude : magnitude;
    });
}

void plantNonfinite(at::Tensor& rows, std::uint64_t seed) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::int64_t width = rows.numel() / std::max<std::int64_t>(1, rows.size(0));
    at::Tensor flat = rows.view({rows.size(0), width});
    for (std::int64_t row = 0; row < rows.size(0); ++row) {
        const std::int64_t column = static_cast<std::int64_t>(counterHash(seed, static_cast<std::uint64_t>(row)) % static_cast<std::uint64_t>(width));
        if (row % 11 == 3) flat[row][column] = -infinity;
        else if (row % 5 == 1) flat[row][column] = infinity;
        else if (row % 2 == 0) flat[row][column] = std::numeric_limits<double>::quiet_NaN();
    }
}

at::Tensor exampleRows(at::IntArrayRef sizes, at::ScalarType dtype, std::uint64_t seed, std::uint64_t stream, Content content) {
    if (content == Content::overflow) return huge(sizes, dtype, seed, stream);
    // With a deviation of 1 a norm's factor is nearly 1, and a 16-bit value times it is rounded back to itself: that hides mistakes.
    constexpr double kDeviation = 1.37;
    at::Tensor tensor = bellShaped(sizes, dtype, seed, stream, kDeviation);
    if (content == Content::nonfinite) plantNonfinite(tensor, seed + stream);
    return tensor;
}

}  // namespace kernelscope
