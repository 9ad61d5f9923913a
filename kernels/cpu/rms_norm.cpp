// rms_norm on the CPU: a row's squares, then the row again from the cache, scaled.

#include <cmath>
#include <type_traits>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/store_policy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rms_norm.cpp"
#include "hwy/foreach_target.h"  // compiles this file again for every target

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE float sumOfSquares(const T* x, int64_t count) {
    const hn::ScalableTag<float> d;
    const auto step = 2 * static_cast<int64_t>(hn::Lanes(d));
    // Four sums, so that one addition need not wait for the one before.
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    int64_t at = 0;
    for (; at + 2 * step <= count; at += 2 * step) {
        const auto v = loadTwo(d, x + at), w = loadTwo(d, x + at + step);
        sum0 = hn::MulAdd(v.a, v.a, sum0);
        sum1 = hn::MulAdd(v.b, v.b, sum1);
        sum2 = hn::MulAdd(w.a, w.a, sum2);
        sum3 = hn::MulAdd(w.b, w.b, sum3);
    }
    for (; at + step <= count; at += step) {
        const auto v = loadTwo(d, x + at);
        sum0 = hn::MulAdd(v.a, v.a, sum0);
        sum1 = hn::MulAdd(v.b, v.b, sum1);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
    const hn::CappedTag<float, 1> one;
    for (; at < count; ++at) {
        const float v = hn::GetLane(loadFloats(one, x + at));
        sum += v * v;
    }
    return sum;
}

template <class T>
void rmsNormRows(const NormArguments& a, Store store, int64_t begin, int64_t end) {
    const T* weight = static_cast<const T*>(a.weight);
    for (int64_t row = begin; row < end; ++row) {
        const T* x = static_cast<const T*>(a.x) + row * a.xStride;
        T* out = static_cast<T*>(a.out) + row * a.outStride;
        const float scale = plainNan(1.0f / std::sqrt(sumOfSquares(x, a.hidden) / static_cast<float>(a.hidden) + a.eps));
        mapElements(
            store, a.hidden, out,
            [scale](auto d, auto v, auto factor) HWY_ATTR { return hn::Mul(roundedTo<T>(d, hn::Mul(v, hn::Set(d, scale))), factor); }, x,
            weight);
    }
}

void rmsNormAnyRows(const NormArguments& a, Store store, int64_t begin, int64_t end) {
    withElement(a.dtype, [&](auto element) { rmsNormRows<decltype(element)>(a, store, begin, end); });
    if (store == Store::past) hwy::FlushStream();
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernelscope::kernels::cpu {

HWY_EXPORT(rmsNormAnyRows);

int rmsNorm(const NormArguments& a, const ks_launch_options& options) {
    const auto rows = HWY_DYNAMIC_DISPATCH(rmsNormAnyRows);
    const int64_t bytes = elementSize(a.dtype);
    const auto outside = [&](const void* operand, int64_t stride) { return outsideCaches(operand, a.rows, a.hidden * bytes, stride * bytes); };
    const Store store = a.out != a.x && outside(a.x, a.xStride) && outside(a.out, a.outStride) ? Store::past : Store::cached;
    forRows(a.rows, a.hidden, options.executor, [&](int64_t begin, int64_t end) { rows(a, store, begin, end); });
    return KS_OK;
}

}  // namespace kernelscope::kernels::cpu
#endif
