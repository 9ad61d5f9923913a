// silu_mul on the CPU.

#include <cmath>
#include <type_traits>

#include "kernels/common/backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/silu_mul.cpp"
#include "hwy/foreach_target.h"  // compiles this file again for every target

#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
#include "kernels/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {

template <class T>
void siluMulElements(const T* gate, const T* up, T* out, int64_t count) {
    forEachVector(count, [&](auto d, int64_t at) HWY_ATTR {
        const auto x = loadFloats(d, gate + at);
        // exp(150) is infinite, as it should be; far above that the exponent arithmetic of Highway's Exp wraps around.
        const auto power = hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 150.0f)));
        const auto active = roundedTo<T>(d, hn::Div(x, hn::Add(hn::Set(d, 1.0f), power)));
        storeFloats(d, hn::Mul(active, loadFloats(d, up + at)), out + at);
    });
}

template <class T>
void siluMulRows(const SiluMulArguments& a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
        siluMulElements(static_cast<const T*>(a.gate) + row * a.gateStride, static_cast<const T*>(a.up) + row * a.upStride,
                        static_cast<T*>(a.out) + row * a.outStride, a.width);
}

void siluMulAnyRows(const SiluMulArguments& a, int64_t begin, int64_t end) {
    withElement(a.dtype, [&](auto element) { siluMulRows<decltype(element)>(a, begin, end); });
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernelscope::kernels::cpu {

HWY_EXPORT(siluMulAnyRows);

int siluMul(const SiluMulArguments& a, const ks_launch_options& options) {
    const auto rows = HWY_DYNAMIC_DISPATCH(siluMulAnyRows);
    forRows(a.rows, 4 * a.width, options.executor, [&](int64_t begin, int64_t end) { rows(a, begin, end); });
    return KS_OK;
}

}  // namespace kernelscope::kernels::cpu
#endif
