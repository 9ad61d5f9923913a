// A kernel of your own for rms_norm on the CPU:  out = round(x * rsqrt(mean(x^2) + eps)) * weight
//
//   x, out   [rows, hidden]; rows lie x_row_stride and out_row_stride elements apart, elements within a row side by side
//   weight   [hidden]
//   dtype    KS_FLOAT32, KS_FLOAT16 or KS_BFLOAT16, the type of all three
//
// Right means: rounded where the model rounds. The normalised value is stored in the type before it is multiplied by the weight, and the product
// is rounded again; everything in between is float32. out may be x itself. Without rows there is nothing to do. Return KS_OK, or the error that
// says why not (KS_ERROR_DTYPE for a type you do not serve): that cell is then "refused".
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
void normRow(T* out, const T* x, const T* weight, int64_t hidden, float eps) {
    // Eight partial sums: the compiler keeps them in one vector, and adding pairwise is more accurate than adding in one line.
    float sums[8] = {};
    int64_t i = 0;
    for (; i + 8 <= hidden; i += 8)
        for (int64_t lane = 0; lane < 8; ++lane) sums[lane] += toFloat(x[i + lane]) * toFloat(x[i + lane]);
    float sum = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    for (; i < hidden; ++i) sum += toFloat(x[i]) * toFloat(x[i]);

    const float scale = 1.0f / std::sqrt(sum / static_cast<float>(hidden) + eps);
    for (int64_t column = 0; column < hidden; ++column) {
        const T normalised = fromFloat<T>(toFloat(x[column]) * scale);
        out[column] = fromFloat<T>(toFloat(normalised) * toFloat(weight[column]));
    }
}

template <class T>
void norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t xStride, int64_t outStride, float eps) {
    for (int64_t row = 0; row < rows; ++row)
        normRow(static_cast<T*>(out) + row * outStride, static_cast<const T*>(x) + row * xStride, static_cast<const T*>(weight), hidden, eps);
}

}  // namespace

extern "C" int ks_cpu_rms_norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride, int64_t out_row_stride,
                               float eps, int dtype, [[maybe_unused]] void* stream) {
    switch (dtype) {
        case KS_FLOAT32: norm<float>(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps); return KS_OK;
        case KS_FLOAT16: norm<Half>(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps); return KS_OK;
        case KS_BFLOAT16: norm<BFloat16>(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps); return KS_OK;
        default: return KS_ERROR_DTYPE;
    }
}
