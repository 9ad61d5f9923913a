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

/// A token's cos and sin, rounded to the type once for all its heads.
template <class T>
struct Table {
    static constexpr int64_t kMost = 128;  // elements of half a head at a time
    T cos[kMost], sin[kMost];
};

template <class T>
HWY_INLINE void roundTable(const float* cos, const float* sin, int64_t count, Table<T>& table) {
    forEachVector(count, [&](auto d, int64_t at) HWY_ATTR {
        storeFloats(d, plainNan(d, hn::LoadU(d, cos + at)), table.cos + at);
        storeFloats(d, plainNan(d, hn::LoadU(d, sin + at)), table.sin + at);
    });
}

/// low' = low c - high s, high' = high c + low s.
template <class T, class D>
HWY_INLINE Two<VF<D>> turned(D d, VF<D> low, VF<D> high, VF<D> c, VF<D> s) {
    return {hn::Sub(roundedTo<T>(d, hn::Mul(low, c)), roundedTo<T>(d, hn::Mul(high, s))),
            hn::Add(roundedTo<T>(d, hn::Mul(high, c)), roundedTo<T>(d, hn::Mul(low, s)))};
}

template <class T>
HWY_INLINE void rotateHead(T* low, T* high, const T* cos, const T* sin, int64_t count) {
    const hn::ScalableTag<float> d;
    const auto step = 2 * static_cast<int64_t>(hn::Lanes(d));
    int64_t at = 0;
    for (; at + step <= count; at += step) {
        const auto l = loadTwo(d, low + at), h = loadTwo(d, high + at), c = loadTwo(d, cos + at), s = loadTwo(d, sin + at);
        const auto a = turned<T>(d, l.a, h.a, c.a, s.a), b = turned<T>(d, l.b, h.b, c.b, s.b);
        storeTwo(d, Two<VF<decltype(d)>>{a.a, b.a}, low + at);
        storeTwo(d, Two<VF<decltype(d)>>{a.b, b.b}, high + at);
    }
    const hn::CappedTag<float, 1> one;
    for (; at < count; ++at) {
        const auto a = turned<T>(one, loadFloats(one, low + at), loadFloats(one, high + at), loadFloats(one, cos + at), loadFloats(one, sin + at));
        storeFloats(one, a.a, low + at);
        storeFloats(one, a.b, high + at);
    }
}

template <class T>
void ropeTokens(const RopeArguments& a, int64_t begin, int64_t end) {
    const int64_t half = a.headDim / 2;
    Table<T> table;
    for (int64_t token = begin; token < end; ++token) {
        T* q = static_cast<T*>(a.q) + token * a.qStride;
        T* k = static_cast<T*>(a.k) + token * a.kStride;
        for (int64_t from = 0; from < half; from += table.kMost) {
            const int64_t count = half - from < table.kMost ? half - from : table.kMost;
            const int64_t entry = a.positions[token] * a.headDim + from;
            const T* cos = table.cos;
            const T* sin = table.sin;
            if constexpr (sizeof(T) == 4) {  // nothing to round
                cos = a.cos + entry;
                sin = a.sin + entry;
            } else {
                roundTable(a.cos + entry, a.sin + entry, count, table);
            }
            for (int64_t head = 0; head < a.qHeads; ++head)
                rotateHead(q + head * a.headDim + from, q + head * a.headDim + half + from, cos, sin, count);
            for (int64_t head = 0; head < a.kvHeads; ++head)
                rotateHead(k + head * a.headDim + from, k + head * a.headDim + half + from, cos, sin, count);
        }
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
