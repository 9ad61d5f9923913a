#pragma once
// The unit of the last place.

#include <algorithm>
#include <bit>
#include <cstdint>

#include <c10/core/ScalarType.h>

namespace kernelscope {

/// The spacing of a type's numbers at a magnitude, as a power of two.
struct Spacing {
    int mantissaBits;
    int leastExponent;  // of normal numbers: below it the spacing stays the same

    static Spacing of(at::ScalarType dtype) {
        switch (dtype) {
            case at::kHalf: return {10, -14};
            case at::kBFloat16: return {7, -126};
            default: return {23, -126};
        }
    }

    [[nodiscard]] double at(double magnitude) const {
        const auto bits = std::bit_cast<std::uint64_t>(magnitude);
        const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, leastExponent);
        return std::bit_cast<double>(static_cast<std::uint64_t>(exponent - mantissaBits + 1023) << 52);
    }
};

}  // namespace kernelscope
