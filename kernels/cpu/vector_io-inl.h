// Loads, stores and rounding of the three element types as vectors of float, for the target that is being compiled.
// Included once per target (Highway's foreach_target), hence the toggled guard instead of #pragma once.

#if defined(KERNELSCOPE_CPU_VECTOR_IO_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELSCOPE_CPU_VECTOR_IO_INL_H
#undef KERNELSCOPE_CPU_VECTOR_IO_INL_H
#else
#define KERNELSCOPE_CPU_VECTOR_IO_INL_H
#endif

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/store_policy.h"

HWY_BEFORE_NAMESPACE();
namespace kernelscope::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Highway converts float16 in software on older x86 targets, and there it truncates.
#if HWY_ARCH_ARM || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
inline constexpr bool kHardwareHalf = true;
#else
inline constexpr bool kHardwareHalf = false;
#endif

template <class D>
using VF = hn::Vec<D>;

template <class D>
HWY_INLINE VF<D> loadFloats(D d, const float* from) {
    return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE VF<D> loadFloats(D d, const Bfloat16* from) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<uint32_t, D> d32;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, &from->bits))));
}

template <class D>
HWY_INLINE VF<D> loadFloats(D d, const Float16* from) {
    if constexpr (kHardwareHalf) {
        const hn::Rebind<hwy::float16_t, D> d16;
        return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
    } else {
        HWY_ALIGN float lanes[hn::MaxLanes(D())];
        for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = floatFromHalf(from[i].bits);
        return hn::Load(d, lanes);
    }
}

/// Any NaN as the one whose lower half is zero: for float32 values of the caller's, before they meet bfloat16.
inline float plainNan(float v) { return std::isnan(v) ? std::numeric_limits<float>::quiet_NaN() : v; }

template <class D>
HWY_INLINE VF<D> plainNan(D d, VF<D> v) {
    return hn::IfThenElse(hn::IsNaN(v), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), v);
}

/// Bits of the nearest bfloat16, ties to even, in the upper half of each lane. A NaN must have a zero lower half, as every NaN that comes
/// from bfloat16 inputs, from arithmetic on them or from plainNan has: then nothing carries into its sign.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint32_t, D>> roundedBits(D, VF<D> v) {
    const hn::Rebind<uint32_t, D> du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    return hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
}

template <Store kStore, class D, class V, class T>
HWY_INLINE void put(V v, D d, T* to) {
    if constexpr (kStore == Store::past) hn::Stream(v, d, to);
    else hn::StoreU(v, d, to);
}

template <Store kStore = Store::cached, class D>
HWY_INLINE void storeFloats(D d, VF<D> v, float* to) {
    put<kStore>(v, d, to);
}

template <Store kStore = Store::cached, class D>
HWY_INLINE void storeFloats(D d, VF<D> v, Bfloat16* to) {
    // The signed shift keeps the 16 bits inside the range that the saturating narrowing leaves alone.
    const hn::Rebind<int32_t, D> di;
    const hn::Rebind<int16_t, D> d16;
    const auto narrow = hn::DemoteTo(d16, hn::ShiftRight<16>(hn::BitCast(di, roundedBits(d, v))));
    put<kStore>(narrow, d16, reinterpret_cast<int16_t*>(&to->bits));
}

template <Store kStore = Store::cached, class D>
HWY_INLINE void storeFloats(D d, VF<D> v, Float16* to) {
    if constexpr (kHardwareHalf) {
        const hn::Rebind<hwy::float16_t, D> d16;
        put<kStore>(hn::DemoteTo(d16, v), d16, reinterpret_cast<hwy::float16_t*>(to));
    } else {
        HWY_ALIGN float lanes[hn::MaxLanes(D())];
        hn::Store(v, d, lanes);
        for (size_t i = 0; i < hn::Lanes(d); ++i) to[i].bits = halfFromFloat(lanes[i]);
    }
}

/// v as it would read back after a store as T.
template <class T, class D>
HWY_INLINE VF<D> roundedTo(D d, VF<D> v) {
    if constexpr (sizeof(T) == 4) {
        return v;
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
        const hn::Rebind<uint32_t, D> du;
        return hn::BitCast(d, hn::And(roundedBits(d, v), hn::Set(du, 0xffff0000u)));
    } else if constexpr (kHardwareHalf) {
        const hn::Rebind<hwy::float16_t, D> d16;
        return hn::PromoteTo(d, hn::DemoteTo(d16, v));
    } else {
        HWY_ALIGN float lanes[hn::MaxLanes(D())];
        hn::Store(v, d, lanes);
        for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = floatFromHalf(halfFromFloat(lanes[i]));
        return hn::Load(d, lanes);
    }
}

/// Two vectors: what twice as many elements as a float vector has lanes become. Which element went to which lane is the type's affair,
/// the same for loads and stores.
template <class V>
struct Two {
    V a, b;
};

template <class D>
HWY_INLINE Two<VF<D>> loadTwo(D d, const float* from) {
    return {hn::LoadU(d, from), hn::LoadU(d, from + hn::Lanes(d))};
}

template <class D>
HWY_INLINE Two<VF<D>> loadTwo(D d, const Float16* from) {
    return {loadFloats(d, from), loadFloats(d, from + hn::Lanes(d))};
}

/// Elements at even places in one vector, at odd places in the other: a shift and a mask in place of two widenings across lanes.
template <class D>
HWY_INLINE Two<VF<D>> floatsOf(D d, hn::Vec<hn::Repartition<uint16_t, D>> bfloat16s) {
    const hn::RebindToUnsigned<D> du;
    const auto pairs = hn::BitCast(du, bfloat16s);
    return {hn::BitCast(d, hn::ShiftLeft<16>(pairs)), hn::BitCast(d, hn::And(pairs, hn::Set(du, 0xffff0000u)))};
}

template <class D>
HWY_INLINE Two<VF<D>> loadTwo(D d, const Bfloat16* from) {
    if constexpr (HWY_TARGET == HWY_SCALAR) {
        return {loadFloats(d, from), loadFloats(d, from + 1)};
    } else {
        const hn::Repartition<uint16_t, D> d16;
        return floatsOf(d, hn::LoadU(d16, &from->bits));
    }
}

template <Store kStore = Store::cached, class D>
HWY_INLINE void storeTwo(D d, Two<VF<D>> v, float* to) {
    put<kStore>(v.a, d, to);
    put<kStore>(v.b, d, to + hn::Lanes(d));
}

template <Store kStore = Store::cached, class D>
HWY_INLINE void storeTwo(D d, Two<VF<D>> v, Float16* to) {
    storeFloats<kStore>(d, v.a, to);
    storeFloats<kStore>(d, v.b, to + hn::Lanes(d));
}

/// The two vectors as bfloat16, in the order of loadTwo. Upper and lower halves are gathered first, so that one instruction rounds as many
/// elements as two would otherwise: the carry is the top bit of lower + 0x7fff + (upper & 1), and averaging computes that sum's half.
template <class D>
HWY_INLINE hn::Vec<hn::Repartition<uint16_t, D>> roundedPairs(D d, Two<VF<D>> v) {
    const hn::Repartition<uint16_t, D> d16;
    const hn::RebindToUnsigned<D> du;
    const auto even = hn::BitCast(du, v.a), odd = hn::BitCast(du, v.b);
    const auto high = hn::BitCast(d16, hn::OrAnd(hn::ShiftRight<16>(even), odd, hn::Set(du, 0xffff0000u)));
    const auto low = hn::BitCast(d16, hn::OrAnd(hn::ShiftLeft<16>(odd), even, hn::Set(du, 0xffffu)));
    const auto half = hn::AverageRound(low, hn::OrAnd(hn::Set(d16, 0x7ffe), high, hn::Set(d16, 1)));
    return hn::Add(high, hn::ShiftRight<15>(half));
}

template <Store kStore = Store::cached, class D>
HWY_INLINE void storeTwo(D d, Two<VF<D>> v, Bfloat16* to) {
    if constexpr (HWY_TARGET == HWY_SCALAR) {
        storeFloats(d, v.a, to);
        storeFloats(d, v.b, to + 1);
    } else {
        const hn::Repartition<uint16_t, D> d16;
        put<kStore>(roundedPairs(d, v), d16, &to->bits);
    }
}

/// Stores two vectors at each of `to`, and returns what is read back from them.
template <Store... kStore, class D, class... T>
HWY_INLINE Two<VF<D>> storeTwoAndRound(D d, Two<VF<D>> v, T*... to) {
    using Element = std::common_type_t<T...>;
    if constexpr (std::is_same_v<Element, Bfloat16> && HWY_TARGET != HWY_SCALAR) {
        const hn::Repartition<uint16_t, D> d16;
        const auto pairs = roundedPairs(d, v);
        (put<kStore>(pairs, d16, &to->bits), ...);
        return floatsOf(d, pairs);
    } else {
        const Two<VF<D>> rounded{roundedTo<Element>(d, v.a), roundedTo<Element>(d, v.b)};
        (storeTwo<kStore>(d, rounded, to), ...);
        return rounded;
    }
}

/// out[i] = f(tag, in[i]...) for i in 0..count-1; f is called with vectors of float and its result is rounded to T.
template <Store kStore, class T, class F, class... In>
HWY_INLINE void mapElements(int64_t count, T* out, F f, const In*... in) {
    const hn::ScalableTag<float> d;
    const auto step = 2 * static_cast<int64_t>(hn::Lanes(d));
    int64_t at = 0;
    for (; at + step <= count; at += step)
        [&](auto... v) HWY_ATTR { storeTwo<kStore>(d, {f(d, v.a...), f(d, v.b...)}, out + at); }(loadTwo(d, in + at)...);
    const hn::CappedTag<float, 1> one;
    for (; at < count; ++at) storeFloats(one, f(one, loadFloats(one, in + at)...), out + at);
}

template <class T>
HWY_INLINE bool alignedToVector(const T* p) {
    return reinterpret_cast<uintptr_t>(p) % hn::Lanes(hn::ScalableTag<uint8_t>()) == 0;
}

/// The same with the stores that `store` asks for, where this row allows them.
template <class T, class F, class... In>
HWY_INLINE void mapElements(Store store, int64_t count, T* out, F f, const In*... in) {
    if (store == Store::past && alignedToVector(out)) mapElements<Store::past>(count, out, f, in...);
    else mapElements<Store::cached>(count, out, f, in...);
}

/// Calls body(tag, at) for whole vectors over 0..count, then for single elements.
template <class Body>
HWY_INLINE void forEachVector(int64_t count, Body body) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t at = 0;
    for (; at + lanes <= count; at += lanes) body(d, at);
    const hn::CappedTag<float, 1> one;
    for (; at < count; ++at) body(one, at);
}

}  // namespace kernelscope::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
