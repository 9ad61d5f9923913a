#pragma once
// How far a variant's results are from the float64 oracle, from the native sequence, and from the other rounding order.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace kernelscope {

/// Sums and extremes over elements; two halves of a tensor add up to the whole. Elements where the variant or native is not
/// finite count for agreement only.
struct ErrorStats {
    std::int64_t elements = 0;  ///< finite ones
    std::int64_t nonfinite = 0;

    // against float64
    double maxAbs = 0, maxUlp = 0;
    double signedSum = 0;     ///< of value - exact
    double leanUlp = 0;       ///< sum of (|value| - |exact|) in ULP: a cast that truncates leans towards zero
    std::int64_t worst = -1;  ///< flat index of maxAbs
    double nativeMaxAbs = 0, nativeMaxUlp = 0, nativeLeanUlp = 0;

    // against the native sequence and the other order
    double maxUlpFromNative = 0, maxUlpFromOther = 0;
    std::int64_t beyondOneUlpOfNative = 0, beyondOneUlpOfOther = 0;
    std::int64_t differFromNative = 0, differFromOther = 0;
    std::int64_t ordersDiffer = 0;  ///< elements in which the two orders themselves differ
    std::int64_t worstFromNative = -1;

    // NaN and infinities
    std::int64_t disagree = 0;  ///< NaN, or an infinity, on one side only
    std::int64_t firstDisagreement = -1;

    void add(const ErrorStats& other);
};

/// What is compared: tensors of one number of elements, contiguous; `value`, `native` and `other` in the type under test, `exact`
/// and `magnitude` (undefined: |exact|) in float64. Indices start at `first`.
struct Compared {
    at::Tensor value, native, other, exact, magnitude;
    std::int64_t first = 0;
};

/// Picks the loop for the tensors' device.
ErrorStats compare(const Compared& tensors);

/// One pass over memory in plain C++ on all threads (CPU tensors).
ErrorStats compareByLoop(const Compared& tensors);
/// The same by torch's operators, on any device.
ErrorStats compareByTensors(const Compared& tensors);

}  // namespace kernelscope
