// rms_norm on the CPU: a row's squares, then the row again from the cache, scaled.

#include <cmath>
#include <type_traits>

#include "kernels/common/backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rms_norm.cpp"
#include "hwy/foreach_target.h"  // compiles this file again for every target

#include "hwy/highway.h"
#include "kernels/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE float sumOfSquares(const T* x, int64_t count) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    // Four sums, so that one addition need not wait for the one before.
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    int64_t at = 0;
    for (; at + 4 * lanes <= count; at += 4 * lanes) {
        const auto v0 = loadFloats(d, x + at), v1 = loadFloats(d, x + at + lanes);
        const auto v2 = loadFloats(d, x + at + 2 * lanes), v3 = loadFloats(d, x + at + 3 * lanes);
        sum0 = hn::MulAdd(v0, v0, sum0);
        sum1 = hn::MulAdd(v1, v1, sum1);
        sum2 = hn::MulAdd(v2, v2, sum2);
        sum3 = hn::MulAdd(v3, v3, sum3);
    }
    for (; at + lanes <= count; at += lanes) {
        const auto v = loadFloats(d, x + at);
        sum0 = hn::MulAdd(v, v, sum0);
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
void rmsNormRows(const NormArguments& a, int64_t begin, int64_t end) {
    const T* weight = static_cast<const T*>(a.weight);
    for (int64_t row = begin; row < end; ++row) {
        const T* x = static_cast<const T*>(a.x) + row * a.xStride;
        T* out = static_cast<T*>(a.out) + row * a.outStride;
        const float scale = 1.0f / std::sqrt(sumOfSquares(x, a.hidden) / static_cast<float>(a.hidden) + a.eps);
        forEachVector(a.hidden, [&](auto d, int64_t at) HWY_ATTR {
            const auto normed = roundedTo<T>(d, hn::Mul(loadFloats(d, x + at), hn::Set(d, scale)));
            storeFloats(d, hn::Mul(normed, loadFloats(d, weight + at)), out + at);
        });
    }
}

void rmsNormAnyRows(const NormArguments& a, int64_t begin, int64_t end) {
    withElement(a.dtype, [&](auto element) { rmsNormRows<decltype(element)>(a, begin, end); });
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernelscope::kernels::cpu {

HWY_EXPORT(rmsNormAnyRows);

int rmsNorm(const NormArguments& a, const ks_launch_options& options) {
    const auto rows = HWY_DYNAMIC_DISPATCH(rmsNormAnyRows);
    forRows(a.rows, a.hidden, options.executor, [&](int64_t begin, int64_t end) { rows(a, begin, end); });
    return KS_OK;
}

}  // namespace kernelscope::kernels::cpu
#endif
