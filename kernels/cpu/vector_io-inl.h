// Loads, stores and rounding of the three element types as vectors of float, for the target that is being compiled.
// Included once per target (Highway's foreach_target), hence the toggled guard instead of #pragma once.

#if defined(KERNELSCOPE_CPU_VECTOR_IO_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNELSCOPE_CPU_VECTOR_IO_INL_H
#undef KERNELSCOPE_CPU_VECTOR_IO_INL_H
#else
#define KERNELSCOPE_CPU_VECTOR_IO_INL_H
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/half.h"

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

/// Bits of the nearest bfloat16, ties to even, in the upper half of each lane. A NaN must have a zero lower half, as every NaN that comes
/// from bfloat16 inputs or from arithmetic has: then nothing carries into its sign.
template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint32_t, D>> roundedBits(D, VF<D> v) {
    const hn::Rebind<uint32_t, D> du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    return hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
}

template <class D>
HWY_INLINE void storeFloats(D d, VF<D> v, float* to) {
    hn::StoreU(v, d, to);
}

template <class D>
HWY_INLINE void storeFloats(D d, VF<D> v, Bfloat16* to) {
    // The signed shift keeps the 16 bits inside the range that the saturating narrowing leaves alone.
    const hn::Rebind<int32_t, D> di;
    const hn::Rebind<int16_t, D> d16;
    const auto narrow = hn::DemoteTo(d16, hn::ShiftRight<16>(hn::BitCast(di, roundedBits(d, v))));
    hn::StoreU(narrow, d16, reinterpret_cast<int16_t*>(&to->bits));
}

template <class D>
HWY_INLINE void storeFloats(D d, VF<D> v, Float16* to) {
    if constexpr (kHardwareHalf) {
        const hn::Rebind<hwy::float16_t, D> d16;
        hn::StoreU(hn::DemoteTo(d16, v), d16, reinterpret_cast<hwy::float16_t*>(to));
    } else {
        HWY_ALIGN float lanes[hn::MaxLanes(D())];
        hn::Store(v, d, lanes);
        for (size_t i = 0; i < hn::Lanes(d); ++i) to[i].bits = halfFromFloat(lanes[i]);
    }
}

/// Stores a value that roundedTo<T> gave: nothing is left to round.
template <class D, class T>
HWY_INLINE void storeRounded(D d, VF<D> v, T* to) {
    if constexpr (std::is_same_v<T, Bfloat16>) {
        const hn::Rebind<int32_t, D> di;
        const hn::Rebind<int16_t, D> d16;
        hn::StoreU(hn::DemoteTo(d16, hn::ShiftRight<16>(hn::BitCast(di, v))), d16, reinterpret_cast<int16_t*>(&to->bits));
    } else {
        storeFloats(d, v, to);
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
HWY_INLINE Two<VF<D>> loadTwo(D d, const Bfloat16* from) {
    if constexpr (HWY_TARGET == HWY_SCALAR) {
        return {loadFloats(d, from), loadFloats(d, from + 1)};
    } else {
        const hn::Repartition<uint16_t, D> d16;
        const hn::RebindToUnsigned<D> du;
        const auto pairs = hn::BitCast(du, hn::LoadU(d16, &from->bits));
        return {hn::BitCast(d, hn::ShiftLeft<16>(pairs)), hn::BitCast(d, hn::And(pairs, hn::Set(du, 0xffff0000u)))};
    }
}

template <class D>
HWY_INLINE void storeTwo(D d, Two<VF<D>> v, float* to) {
    hn::StoreU(v.a, d, to);
    hn::StoreU(v.b, d, to + hn::Lanes(d));
}

template <class D>
HWY_INLINE void storeTwo(D d, Two<VF<D>> v, Float16* to) {
    storeFloats(d, v.a, to);
    storeFloats(d, v.b, to + hn::Lanes(d));
}

/// The upper halves of the lanes, as loadTwo would read them.
template <class D, class U>
HWY_INLINE void storeHalves(D d, U even, U odd, Bfloat16* to) {
    if constexpr (HWY_TARGET == HWY_SCALAR) {
        storeRounded(d, hn::BitCast(d, even), to);
        storeRounded(d, hn::BitCast(d, odd), to + 1);
    } else {
        const hn::Repartition<uint16_t, D> d16;
        const hn::RebindToUnsigned<D> du;
        const auto pairs = hn::Or(hn::ShiftRight<16>(even), hn::And(odd, hn::Set(du, 0xffff0000u)));
        hn::StoreU(hn::BitCast(d16, pairs), d16, &to->bits);
    }
}

template <class D>
HWY_INLINE void storeTwo(D d, Two<VF<D>> v, Bfloat16* to) {
    storeHalves(d, roundedBits(d, v.a), roundedBits(d, v.b), to);
}

/// The same for values that roundedTo<T> gave: nothing is left to round.
template <class D, class T>
HWY_INLINE void storeTwoRounded(D d, Two<VF<D>> v, T* to) {
    if constexpr (std::is_same_v<T, Bfloat16>) {
        const hn::RebindToUnsigned<D> du;
        storeHalves(d, hn::BitCast(du, v.a), hn::BitCast(du, v.b), to);
    } else {
        storeTwo(d, v, to);
    }
}

/// out[i] = f(tag, in[i]...) for i in 0..count-1; f is called with vectors of float and its result is rounded to T.
template <class T, class F, class... In>
HWY_INLINE void mapElements(int64_t count, T* out, F f, const In*... in) {
    const hn::ScalableTag<float> d;
    const auto step = 2 * static_cast<int64_t>(hn::Lanes(d));
    int64_t at = 0;
    for (; at + step <= count; at += step)
        [&](auto... v) HWY_ATTR { storeTwo(d, {f(d, v.a...), f(d, v.b...)}, out + at); }(loadTwo(d, in + at)...);
    const hn::CappedTag<float, 1> one;
    for (; at < count; ++at) storeFloats(one, f(one, loadFloats(one, in + at)...), out + at);
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
