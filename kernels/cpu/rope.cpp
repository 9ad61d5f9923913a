// rope on the CPU: q and k of a token, in place.

#include <cmath>
#include <type_traits>

#include "kernels/common/backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rope.cpp"
#include "hwy/foreach_target.h"  // compiles this file again for every target

#include "hwy/highway.h"
#include "kernels/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {

template <class T>
HWY_INLINE void rotateHead(T* head, const float* cos, const float* sin, int64_t half) {
    forEachVector(half, [&](auto d, int64_t at) HWY_ATTR {
        const auto low = loadFloats(d, head + at);
        const auto high = loadFloats(d, head + half + at);
        const auto c = roundedTo<T>(d, hn::LoadU(d, cos + at));
        const auto s = roundedTo<T>(d, hn::LoadU(d, sin + at));
        const auto lowTurned = hn::Sub(roundedTo<T>(d, hn::Mul(low, c)), roundedTo<T>(d, hn::Mul(high, s)));
        const auto highTurned = hn::Add(roundedTo<T>(d, hn::Mul(high, c)), roundedTo<T>(d, hn::Mul(low, s)));
        storeFloats(d, lowTurned, head + at);
        storeFloats(d, highTurned, head + half + at);
    });
}

template <class T>
void ropeTokens(const RopeArguments& a, int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; ++token) {
        const float* cos = a.cos + a.positions[token] * a.headDim;
        const float* sin = a.sin + a.positions[token] * a.headDim;
        T* q = static_cast<T*>(a.q) + token * a.qStride;
        T* k = static_cast<T*>(a.k) + token * a.kStride;
        for (int64_t head = 0; head < a.qHeads; ++head) rotateHead(q + head * a.headDim, cos, sin, a.headDim / 2);
        for (int64_t head = 0; head < a.kvHeads; ++head) rotateHead(k + head * a.headDim, cos, sin, a.headDim / 2);
    }
}

void ropeAnyTokens(const RopeArguments& a, int64_t begin, int64_t end) {
    withElement(a.dtype, [&](auto element) { ropeTokens<decltype(element)>(a, begin, end); });
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernelscope::kernels::cpu {

HWY_EXPORT(ropeAnyTokens);

int rope(const RopeArguments& a, const ks_launch_options& options) {
    const auto tokens = HWY_DYNAMIC_DISPATCH(ropeAnyTokens);
    forRows(a.tokens, (a.qHeads + a.kvHeads) * a.headDim, options.executor,
            [&](int64_t begin, int64_t end) { tokens(a, begin, end); });
    return KS_OK;
}

}  // namespace kernelscope::kernels::cpu
#endif
