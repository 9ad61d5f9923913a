// A kernel of your own for rope on the CPU: rotates q and k in place, half-split.
//
//   q [tokens, q_heads, head_dim], k [tokens, kv_heads, head_dim]: tokens lie q_token_stride and k_token_stride elements apart, the heads of a token side by side
//   cos, sin    float32 [max_position, head_dim], both halves equal; token t uses their row positions[t]
//   dtype       KS_FLOAT32, KS_FLOAT16 or KS_BFLOAT16, the type of q and k
//
// Right means: rounded where the model rounds. The table values are rounded to the type first; each product is rounded, then the sum:
//   low'  = round(round(low * c) - round(high * s))
//   high' = round(round(high * c) + round(low * s))
// Return KS_OK, or the error that says why not (KS_ERROR_DTYPE for a type you do not serve): that cell is then "refused".
//
//   kernelscope-cli validate --kernel THIS.cpp           is it right, in every awkward case
//   kernelscope-cli sweep --kernel THIS.cpp --watch      how fast, again at every save
//   kernelscope-cli e2e --kernel THIS.cpp                what it buys in generate()
//
// More options for the compiler than -O3 -march=native: a line of its own such as
//   // kernelscope: options = -funroll-loops

#include <cmath>

#include "kernelscope/kernels.h"

namespace {

// The 16-bit types as they lie in memory, and how they become float and back, rounding to nearest even.
struct Half {
    _Float16 value;
};
struct BFloat16 {
    uint16_t bits;
};

inline float toFloat(float x) { return x; }
inline float toFloat(Half x) { return static_cast<float>(x.value); }
inline float toFloat(BFloat16 x) { return __builtin_bit_cast(float, static_cast<uint32_t>(x.bits) << 16); }

template <class T>
T fromFloat(float x);
template <>
inline float fromFloat<float>(float x) {
    return x;
}
template <>
inline Half fromFloat<Half>(float x) {
    return {static_cast<_Float16>(x)};
}
template <>
inline BFloat16 fromFloat<BFloat16>(float x) {
    const auto bits = __builtin_bit_cast(uint32_t, x);
    if (x != x) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};  // stays a NaN
    return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <class T>
float rounded(float value) {
    return toFloat(fromFloat<T>(value));
}

template <class T>
void rotate(T* head, const float* cos, const float* sin, int64_t half) {
    for (int64_t i = 0; i < half; ++i) {
        const float low = toFloat(head[i]), high = toFloat(head[half + i]);
        const float c = rounded<T>(cos[i]), s = rounded<T>(sin[i]);
        head[i] = fromFloat<T>(rounded<T>(low * c) - rounded<T>(high * s));
        head[half + i] = fromFloat<T>(rounded<T>(high * c) + rounded<T>(low * s));
    }
}

template <class T>
void rotateTokens(void* x, const float* cos, const float* sin, const int64_t* positions, int64_t tokens, int64_t heads, int64_t headDim, int64_t stride) {
    for (int64_t token = 0; token < tokens; ++token)
        for (int64_t head = 0; head < heads; ++head)
            rotate(static_cast<T*>(x) + token * stride + head * headDim, cos + positions[token] * headDim, sin + positions[token] * headDim, headDim / 2);
}

}  // namespace

extern "C" int ks_cpu_rope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads, int64_t kv_heads, int64_t head_dim,
                           int64_t q_token_stride, int64_t k_token_stride, int dtype, [[maybe_unused]] void* stream) {
    const auto run = [&](auto element) {
        using T = decltype(element);
        const auto* c = static_cast<const float*>(cos);
        const auto* s = static_cast<const float*>(sin);
        rotateTokens<T>(q, c, s, positions, tokens, q_heads, head_dim, q_token_stride);
        rotateTokens<T>(k, c, s, positions, tokens, kv_heads, head_dim, k_token_stride);
        return static_cast<int>(KS_OK);
    };
    switch (dtype) {
        case KS_FLOAT32: return run(float());
        case KS_FLOAT16: return run(Half());
        case KS_BFLOAT16: return run(BFloat16());
        default: return KS_ERROR_DTYPE;
    }
}
