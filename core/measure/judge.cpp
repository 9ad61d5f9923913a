#include "core/measure/judge.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kernelscope {
namespace {

// In a 16-bit type another order of the row's sum moves the normalised value by one place, and the product by up to two; in
// float32 the sum itself is what is rounded, over thousands of terms.
constexpr double kMostUlp16 = 2, kMostUlp32 = 8;
// In a 16-bit type that happens to few elements only.
constexpr double kShareBeyondOneUlp = 1e-3;
// Small shapes have too few elements for a share: this many are luck.
constexpr double kFewBeyondOneUlp = 2;
// A cast that truncates leans by half a place; correct rounding by none. Its spread is about 0.6 of a place an element.
constexpr double kLean16 = 0.15, kSpread = 0.6;
// In float32 all elements of a row lean together with its mean, by up to about one place.
constexpr double kLean32 = 0.6, kSpread32 = 1.0;
// The other order may be off by as much as the native one, and a little luck.
constexpr double kAsAccurate = 1.5;
// Fewer elements in which the orders differ tell nothing about which of them it was.
constexpr std::int64_t kFewestTelling = 8;

double percent(std::int64_t part, std::int64_t whole) { return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0; }

struct Closeness {
    double maxUlp;
    std::int64_t beyondOne;
};

bool isClose(const Closeness& to, at::ScalarType dtype, std::int64_t elements) {
    if (dtype == at::kFloat) return to.maxUlp <= kMostUlp32;
    return to.maxUlp <= kMostUlp16 &&
           static_cast<double>(to.beyondOne) <= std::max(kFewBeyondOneUlp, kShareBeyondOneUlp * static_cast<double>(elements));
}

std::string distanceText(const ErrorStats& s, at::ScalarType dtype) {
    if (dtype == at::kFloat) return fmt::format("up to {:.3g} ULP from the native sequence; {:.0f} is the limit", s.maxUlpFromNative, kMostUlp32);
    return fmt::format("up to {:.3g} ULP from the native sequence, more than 1 in {:.2g} % of the elements; the limits are {:.0f} and {:.1f} %",
                       s.maxUlpFromNative, percent(s.beyondOneUlpOfNative, s.elements), kMostUlp16, 100 * kShareBeyondOneUlp);
}

}  // namespace

Judgement judge(const ErrorStats& s, at::ScalarType dtype, std::int64_t rows) {
    if (s.disagree > 0) {
        return {"wrong", fmt::format("NaN or infinity where the native sequence has something else, in {} elements", s.disagree)};
    }
    if (s.elements == 0) return {"ok", {}};
    const auto count = static_cast<double>(s.elements);
    // Against both: the native sequence itself leans where inputs of few mantissas meet a row's factor near 1, and who rounds once
    // does not lean with it. A cast that truncates leans against either.
    const double fromNative = (s.leanUlp - s.nativeLeanUlp) / count, fromExact = s.leanUlp / count;
    const double lean = std::abs(fromNative) < std::abs(fromExact) ? fromNative : fromExact;
    const double leanLimit = dtype == at::kFloat ? kLean32 + 4 * kSpread32 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, rows)))
                                                 : kLean16 + 4 * kSpread / std::sqrt(count);
    const bool leans = std::abs(lean) > leanLimit;
    const bool ordersTell = dtype != at::kFloat && s.ordersDiffer >= kFewestTelling;
    const bool nearOther = ordersTell && s.differFromOther < s.differFromNative;
    const bool closeToNative = isClose({s.maxUlpFromNative, s.beyondOneUlpOfNative}, dtype, s.elements);
    const bool closeToOther = isClose({s.maxUlpFromOther, s.beyondOneUlpOfOther}, dtype, s.elements);

    if (closeToNative && leans) {
        return {"wrong", fmt::format("signed bias: results lean {} zero by {:.2f} ULP on average, as a cast that truncates does",
                                     lean < 0 ? "towards" : "away from", std::abs(lean))};
    }
    if (closeToNative && !nearOther) return {"ok", {}};
    if (nearOther && closeToOther && !leans && s.maxAbs <= kAsAccurate * s.nativeMaxAbs) {
        return {"other_order", fmt::format("another rounding order: differs from the native sequence in {:.1f} % of the elements, from one that rounds once, at "
                                           "the end, in {:.1f} %", percent(s.differFromNative, s.elements), percent(s.differFromOther, s.elements))};
    }
    if (closeToNative) {
        return {"wrong", fmt::format("closer to another rounding order than to the native one, and less accurate: max error {:.3g} against {:.3g}", s.maxAbs,
                                     s.nativeMaxAbs)};
    }
    return {"wrong", distanceText(s, dtype)};
}

}  // namespace kernelscope
