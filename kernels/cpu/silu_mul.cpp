// silu_mul on the CPU.

#include <limits>
#include <type_traits>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/store_policy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/silu_mul.cpp"
#include "hwy/foreach_target.h"  // compiles this file again for every target

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {

// exp(v) = 2^n * 2^f with n the integer nearest to v * log2(e), so |f| <= 1/2. The polynomial is a Chebyshev fit of 2^f,
// good to 3e-9.
constexpr float kLog2eHigh = 1.44269502f;
constexpr float kLog2eLow = 1.92596303e-8f;  // what the float before leaves of log2(e)
constexpr float kLargestExponent = 88.7228f;  // beyond it exp is infinite in float, and silu(-v) is -0
constexpr float kSmallestExponent = -80.0f;   // below it 1 + exp is 1 anyway, and a scaled power of two stays normal

/// scale * exp(v) for v between kSmallestExponent and kLargestExponent; scale is a power of two.
template <class D>
HWY_INLINE VF<D> scaledExp(D d, VF<D> v, float scale) {
    const hn::RebindToSigned<D> di;
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    const auto magic = hn::Set(d, 12582912.0f);
    v = hn::Max(v, hn::Set(d, kSmallestExponent));
    const auto shifted = hn::MulAdd(v, hn::Set(d, kLog2eHigh), magic);
    const auto f = hn::MulAdd(v, hn::Set(d, kLog2eLow), hn::MulSub(v, hn::Set(d, kLog2eHigh), hn::Sub(shifted, magic)));
    auto power = hn::Set(d, scale * 1.546973198e-4f);
    power = hn::MulAdd(power, f, hn::Set(d, scale * 1.340043216e-3f));
    power = hn::MulAdd(power, f, hn::Set(d, scale * 9.618025603e-3f));
    power = hn::MulAdd(power, f, hn::Set(d, scale * 5.550327214e-2f));
    power = hn::MulAdd(power, f, hn::Set(d, scale * 2.402265121e-1f));
    power = hn::MulAdd(power, f, hn::Set(d, scale * 6.931472067e-1f));
    power = hn::MulAdd(power, f, hn::Set(d, scale));
    return hn::BitCast(d, hn::Add(hn::BitCast(di, power), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

/// x / (1 + exp(-x)).
template <class T, class D>
HWY_INLINE VF<D> silu(D d, VF<D> x) {
    const auto negative = hn::Neg(x);
    const auto infinite = hn::Gt(negative, hn::Set(d, kLargestExponent));
    if constexpr (sizeof(T) == 4) {
        const auto divisor = hn::Add(hn::Set(d, 1.0f), scaledExp(d, negative, 1.0f));
        return hn::Div(x, hn::IfThenElse(infinite, hn::Set(d, std::numeric_limits<float>::infinity()), divisor));
    } else {
        // A reciprocal with one Newton step is good for 24 bits or more, and 16 are kept. A sixteenth of the divisor has a normal
        // reciprocal as long as it is finite.
        constexpr float kScale = 0.0625f;
        const auto divisor = hn::Add(hn::Set(d, kScale), scaledExp(d, negative, kScale));
        auto reciprocal = hn::ApproximateReciprocal(divisor);
        reciprocal = hn::Mul(reciprocal, hn::NegMulAdd(divisor, reciprocal, hn::Set(d, 2.0f)));
        return hn::Mul(x, hn::IfThenZeroElse(infinite, hn::Mul(reciprocal, hn::Set(d, kScale))));
    }
}

template <class T>
void siluMulElements(Store store, const T* gate, const T* up, T* out, int64_t count) {
    mapElements(
        store, count, out, [](auto d, auto x, auto factor) HWY_ATTR { return hn::Mul(roundedTo<T>(d, silu<T>(d, x)), factor); }, gate, up);
}

template <class T>
void siluMulRows(const SiluMulArguments& a, Store store, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
        siluMulElements(store, static_cast<const T*>(a.gate) + row * a.gateStride, static_cast<const T*>(a.up) + row * a.upStride,
                        static_cast<T*>(a.out) + row * a.outStride, a.width);
}

void siluMulAnyRows(const SiluMulArguments& a, Store store, int64_t begin, int64_t end) {
    withElement(a.dtype, [&](auto element) { siluMulRows<decltype(element)>(a, store, begin, end); });
    if (store == Store::past) hwy::FlushStream();
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernelscope::kernels::cpu {

HWY_EXPORT(siluMulAnyRows);

int siluMul(const SiluMulArguments& a, const ks_launch_options& options) {
    const auto rows = HWY_DYNAMIC_DISPATCH(siluMulAnyRows);
    const int64_t bytes = elementSize(a.dtype);
    const auto outside = [&](const void* operand, int64_t stride) { return outsideCaches(operand, a.rows, a.width * bytes, stride * bytes); };
    const bool past = a.out != a.gate && a.out != a.up && outside(a.gate, a.gateStride) && outside(a.out, a.outStride);
    const Store store = past ? Store::past : Store::cached;
    forRows(a.rows, 4 * a.width, options.executor, [&](int64_t begin, int64_t end) { rows(a, store, begin, end); });
    return KS_OK;
}

}  // namespace kernelscope::kernels::cpu
#endif
