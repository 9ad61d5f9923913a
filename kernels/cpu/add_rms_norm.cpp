// Residual add and rms_norm on the CPU: the sum is stored and its squares added up in one pass, then scaled from the cache. A sum that goes
// past the caches is kept in a row of our own meanwhile.

#include <cmath>
#include <iterator>
#include <type_traits>

#include "kernels/common/backend.h"
#include "kernels/common/check.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/store_policy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/add_rms_norm.cpp"
#include "hwy/foreach_target.h"  // compiles this file again for every target

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {

/// Stores x + residual at each of `total`, in the way that stands for it, and returns the sum of its squares.
template <Store... kStore, class T, class... Total>
HWY_INLINE float addAndSquare(const T* x, const T* residual, int64_t count, Total*... total) {
    const hn::ScalableTag<float> d;
    const auto step = 2 * static_cast<int64_t>(hn::Lanes(d));
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    const auto added = [&](int64_t at) HWY_ATTR {
        const auto left = loadTwo(d, residual + at), right = loadTwo(d, x + at);
        return storeTwoAndRound<kStore...>(d, {hn::Add(left.a, right.a), hn::Add(left.b, right.b)}, total + at...);
    };
    int64_t at = 0;
    for (; at + 2 * step <= count; at += 2 * step) {
        const auto v = added(at), w = added(at + step);
        sum0 = hn::MulAdd(v.a, v.a, sum0);
        sum1 = hn::MulAdd(v.b, v.b, sum1);
        sum2 = hn::MulAdd(w.a, w.a, sum2);
        sum3 = hn::MulAdd(w.b, w.b, sum3);
    }
    for (; at + step <= count; at += step) {
        const auto v = added(at);
        sum0 = hn::MulAdd(v.a, v.a, sum0);
        sum1 = hn::MulAdd(v.b, v.b, sum1);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
    const hn::CappedTag<float, 1> one;
    for (; at < count; ++at) {
        const auto v = roundedTo<T>(one, hn::Add(loadFloats(one, residual + at), loadFloats(one, x + at)));
        (storeFloats(one, v, total + at), ...);
        sum += hn::GetLane(v) * hn::GetLane(v);
    }
    return sum;
}

/// Of a row that is kept: on the stack, and in a core's own cache.
constexpr int64_t kMostKeptBytes = 32 * 1024;

template <class T>
void addRmsNormRows(const NormArguments& a, Store sumStore, Store outStore, int64_t begin, int64_t end) {
    const T* weight = static_cast<const T*>(a.weight);
    HWY_ALIGN T kept[kMostKeptBytes / sizeof(T)];
    for (int64_t row = begin; row < end; ++row) {
        const T* x = static_cast<const T*>(a.x) + row * a.xStride;
        const T* residual = static_cast<const T*>(a.residual) + row * a.residualStride;
        T* total = static_cast<T*>(a.residualOut) + row * a.residualOutStride;
        T* out = static_cast<T*>(a.out) + row * a.outStride;
        const bool past = sumStore == Store::past && a.hidden <= static_cast<int64_t>(std::size(kept)) && alignedToVector(total);
        const float squares = past ? addAndSquare<Store::past, Store::cached>(x, residual, a.hidden, total, kept)
                                   : addAndSquare<Store::cached>(x, residual, a.hidden, total);
        const float scale = plainNan(1.0f / std::sqrt(squares / static_cast<float>(a.hidden) + a.eps));
        mapElements(
            outStore, a.hidden, out,
            [scale](auto d, auto v, auto factor) HWY_ATTR { return hn::Mul(roundedTo<T>(d, hn::Mul(v, hn::Set(d, scale))), factor); },
            past ? kept : total, weight);
    }
}

void addRmsNormAnyRows(const NormArguments& a, Store sumStore, Store outStore, int64_t begin, int64_t end) {
    withElement(a.dtype, [&](auto element) { addRmsNormRows<decltype(element)>(a, sumStore, outStore, begin, end); });
    if (sumStore == Store::past || outStore == Store::past) hwy::FlushStream();
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernelscope::kernels::cpu {

HWY_EXPORT(addRmsNormAnyRows);

int addRmsNorm(const NormArguments& a, const ks_launch_options& options) {
    const auto rows = HWY_DYNAMIC_DISPATCH(addRmsNormAnyRows);
    const int64_t bytes = elementSize(a.dtype);
    const auto outside = [&](const void* operand, int64_t stride) { return outsideCaches(operand, a.rows, a.hidden * bytes, stride * bytes); };
    const bool inPlace = a.out == a.x || a.out == a.residual || a.residualOut == a.x || a.residualOut == a.residual;
    const bool cold = !inPlace && outside(a.x, a.xStride);
    const Store sumStore = cold && outside(a.residualOut, a.residualOutStride) ? Store::past : Store::cached;
    const Store outStore = cold && outside(a.out, a.outStride) ? Store::past : Store::cached;
    forRows(a.rows, 2 * a.hidden, options.executor, [&](int64_t begin, int64_t end) { rows(a, sumStore, outStore, begin, end); });
    return KS_OK;
}

}  // namespace kernelscope::kernels::cpu
#endif
