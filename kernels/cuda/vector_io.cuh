#pragma once
// Elements, and the 16 bytes of them that a thread moves at once.
//
// Everything here reads and writes through plain pointers: no __ldg and no `const __restrict__`, which would become loads through the
// read-only path, and those may be moved above the wait for the kernel before (programmatic.cuh).

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace kernelscope::kernels::cuda {

__device__ inline float toFloat(float v) { return v; }
__device__ inline float toFloat(__half v) { return __half2float(v); }
__device__ inline float toFloat(__nv_bfloat16 v) { return __bfloat162float(v); }

template <class T>
__device__ inline T fromFloat(float v);
template <>
__device__ inline float fromFloat<float>(float v) { return v; }
template <>
__device__ inline __half fromFloat<__half>(float v) { return __float2half_rn(v); }
template <>
__device__ inline __nv_bfloat16 fromFloat<__nv_bfloat16>(float v) { return __float2bfloat16_rn(v); }

/// The product as the type stores it. Exact in float for 16-bit types, so it is rounded once.
template <class T>
__device__ inline T product(T a, T b) {
    return fromFloat<T>(__fmul_rn(toFloat(a), toFloat(b)));
}
template <class T>
__device__ inline T sum(T a, T b) {
    return fromFloat<T>(__fadd_rn(toFloat(a), toFloat(b)));
}

/// Two neighbouring elements of a 16-bit type, for the packed instructions.
template <class T>
struct PairOf;
template <>
struct PairOf<__half> {
    using Type = __half2;
};
template <>
struct PairOf<__nv_bfloat16> {
    using Type = __nv_bfloat162;
};

__device__ inline float2 toFloat2(__half2 v) { return __half22float2(v); }
/// A bfloat16 is the upper half of a float: one instruction each.
__device__ inline float2 toFloat2(__nv_bfloat162 v) {
    const uint32_t bits = reinterpret_cast<const uint32_t&>(v);
    return make_float2(__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u));
}
template <class Pair>
__device__ inline Pair fromFloat2(float x, float y);
template <>
__device__ inline __half2 fromFloat2<__half2>(float x, float y) { return __floats2half2_rn(x, y); }
template <>
__device__ inline __nv_bfloat162 fromFloat2<__nv_bfloat162>(float x, float y) { return __floats2bfloat162_rn(x, y); }

/// 16 bytes of elements.
template <class T>
struct alignas(16) Vector {
    static constexpr int kElements = 16 / sizeof(T);
    uint4 raw;

    __device__ static Vector zero() { return {make_uint4(0, 0, 0, 0)}; }
    /// From and to global memory. Written out, because a pointer that was pinned (programmatic.cuh) is no longer known to be global.
    __device__ static Vector load(const T* p) {
        Vector v;
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.raw.x), "=r"(v.raw.y), "=r"(v.raw.z), "=r"(v.raw.w)
                     : "l"(__cvta_generic_to_global(p))
                     : "memory");
        return v;
    }
    __device__ void store(T* p) const {
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(raw.x), "r"(raw.y), "r"(raw.z),
                     "r"(raw.w)
                     : "memory");
    }
    /// The same for what nobody is expected to read soon: `policy` from evictFirstPolicy().
    __device__ static Vector loadOnce(const T* p, uint64_t policy) {
        Vector v;
        asm volatile("ld.global.L1::evict_first.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.raw.x), "=r"(v.raw.y), "=r"(v.raw.z), "=r"(v.raw.w)
                     : "l"(__cvta_generic_to_global(p)), "l"(policy)
                     : "memory");
        return v;
    }
    __device__ void storeOnce(T* p, uint64_t policy) const {
        asm volatile("st.global.L1::evict_first.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(__cvta_generic_to_global(p)),
                     "r"(raw.x), "r"(raw.y), "r"(raw.z), "r"(raw.w), "l"(policy)
                     : "memory");
    }
    /// `p` is in shared memory.
    __device__ static Vector loadShared(const T* p) { return {*reinterpret_cast<const uint4*>(p)}; }

    __device__ void toFloats(float (&to)[kElements]) const {
        if constexpr (sizeof(T) == 4) {
            to[0] = __uint_as_float(raw.x), to[1] = __uint_as_float(raw.y);
            to[2] = __uint_as_float(raw.z), to[3] = __uint_as_float(raw.w);
        } else {
            using Pair = typename PairOf<T>::Type;
            const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float2 two = toFloat2(reinterpret_cast<const Pair&>(words[i]));
                to[2 * i] = two.x, to[2 * i + 1] = two.y;
            }
        }
    }

    __device__ static Vector fromFloats(const float (&from)[kElements]) {
        Vector v;
        if constexpr (sizeof(T) == 4) {
            v.raw = make_uint4(__float_as_uint(from[0]), __float_as_uint(from[1]), __float_as_uint(from[2]), __float_as_uint(from[3]));
        } else {
            using Pair = typename PairOf<T>::Type;
            uint32_t words[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) reinterpret_cast<Pair&>(words[i]) = fromFloat2<Pair>(from[2 * i], from[2 * i + 1]);
            v.raw = make_uint4(words[0], words[1], words[2], words[3]);
        }
        return v;
    }
};

__device__ inline uint64_t evictFirstPolicy() {
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/// Makes the compiler forget what it knows of v, so that it unpacks the elements again instead of keeping them all as floats: half the
/// registers across a barrier.
template <class T>
__device__ inline void keepPacked(Vector<T>& v) {
    asm volatile("" : "+r"(v.raw.x), "+r"(v.raw.y), "+r"(v.raw.z), "+r"(v.raw.w));
}

/// Element by element by `single` on floats or `packed` on pairs, each result rounded to the type once.
template <class T, class Single, class Packed>
__device__ inline Vector<T> combine(const Vector<T>& a, const Vector<T>& b, Single single, Packed packed) {
    const uint32_t left[4] = {a.raw.x, a.raw.y, a.raw.z, a.raw.w};
    const uint32_t right[4] = {b.raw.x, b.raw.y, b.raw.z, b.raw.w};
    uint32_t to[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if constexpr (sizeof(T) == 4) {
            to[i] = __float_as_uint(single(__uint_as_float(left[i]), __uint_as_float(right[i])));
        } else {
            using Pair = typename PairOf<T>::Type;
            reinterpret_cast<Pair&>(to[i]) = packed(reinterpret_cast<const Pair&>(left[i]), reinterpret_cast<const Pair&>(right[i]));
        }
    }
    return {make_uint4(to[0], to[1], to[2], to[3])};
}

template <class T>
__device__ inline Vector<T> multiply(const Vector<T>& a, const Vector<T>& b) {
    return combine(a, b, [](float x, float y) { return __fmul_rn(x, y); }, [](auto x, auto y) { return __hmul2_rn(x, y); });
}

/// What adding two tensors of the type gives. The model adds in float and rounds; a float has more than twice the digits of a 16-bit type and
/// two more, so that rounding twice is rounding once, and the packed sum is the same.
template <class T>
__device__ inline Vector<T> add(const Vector<T>& a, const Vector<T>& b) {
    return combine(a, b, [](float x, float y) { return __fadd_rn(x, y); }, [](auto x, auto y) { return __hadd2_rn(x, y); });
}
template <class T>
__device__ inline Vector<T> subtract(const Vector<T>& a, const Vector<T>& b) {
    return combine(a, b, [](float x, float y) { return __fsub_rn(x, y); }, [](auto x, auto y) { return __hsub2_rn(x, y); });
}

/// `start` plus the squares, in two sums that do not wait for each other.
template <class T>
__device__ inline float sumOfSquares(const Vector<T>& v, float start) {
    float values[Vector<T>::kElements];
    v.toFloats(values);
    float other = 0.0f;
#pragma unroll
    for (int i = 0; i < Vector<T>::kElements; i += 2) {
        start = fmaf(values[i], values[i], start);
        other = fmaf(values[i + 1], values[i + 1], other);
    }
    return start + other;
}

/// round(round(v * scale) * weight): the second half of the native norm.
template <class T>
__device__ inline Vector<T> scaled(const Vector<T>& v, float scale, const Vector<T>& weight) {
    float values[Vector<T>::kElements];
    v.toFloats(values);
#pragma unroll
    for (int i = 0; i < Vector<T>::kElements; ++i) values[i] = __fmul_rn(values[i], scale);
    return multiply(Vector<T>::fromFloats(values), weight);
}

}  // namespace kernelscope::kernels::cuda
