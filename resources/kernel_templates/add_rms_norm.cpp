// A kernel of your own for add_rms_norm on the CPU:  residual_out = round(x + residual); out = rms_norm of that stored sum
//
//   all four [rows, hidden], each with a row stride of its own; elements within a row side by side; weight [hidden]
//   dtype    KS_FLOAT32, KS_FLOAT16 or KS_BFLOAT16, the type of all five
//
// Right means: rounded where the model rounds. The sum is stored in the type and the norm is that of the stored sum; the normalised value is stored in
// the type before it is multiplied by the weight, and the product is rounded again. out may be x, residual_out may be residual. Return KS_OK, or the
// error that says why not (KS_ERROR_DTYPE for a type you do not serve): that cell is then "refused".
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
void addNormRow(T* out, T* sumOut, const T* x, const T* residual, const T* weight, int64_t hidden, float eps) {
    // out may lie where x does, so it is written only when x has been read: in the second pass, which reads the stored sum.
    float sums[8] = {};
    for (int64_t i = 0; i < hidden; ++i) {
        const T sum = fromFloat<T>(toFloat(x[i]) + toFloat(residual[i]));
        sumOut[i] = sum;
        sums[i % 8] += toFloat(sum) * toFloat(sum);
    }
    const float total = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    const float scale = 1.0f / std::sqrt(total / static_cast<float>(hidden) + eps);
    for (int64_t i = 0; i < hidden; ++i) {
        const T normalised = fromFloat<T>(toFloat(sumOut[i]) * scale);
        out[i] = fromFloat<T>(toFloat(normalised) * toFloat(weight[i]));
    }
}

template <class T>
void addNorm(void* out, void* sumOut, const void* x, const void* residual, const void* weight, int64_t rows, int64_t hidden, int64_t xStride, int64_t residualStride,
             int64_t outStride, int64_t sumStride, float eps) {
    for (int64_t row = 0; row < rows; ++row)
        addNormRow(static_cast<T*>(out) + row * outStride, static_cast<T*>(sumOut) + row * sumStride, static_cast<const T*>(x) + row * xStride,
                   static_cast<const T*>(residual) + row * residualStride, static_cast<const T*>(weight), hidden, eps);
}

}  // namespace

extern "C" int ks_cpu_add_rms_norm(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows, int64_t hidden,
                                   int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride, int64_t residual_out_row_stride, float eps, int dtype,
                                   [[maybe_unused]] void* stream) {
    const auto run = [&](auto element) {
        addNorm<decltype(element)>(out, residual_out, x, residual, weight, rows, hidden, x_row_stride, residual_row_stride, out_row_stride, residual_out_row_stride, eps);
        return static_cast<int>(KS_OK);
    };
    switch (dtype) {
        case KS_FLOAT32: return run(float());
        case KS_FLOAT16: return run(Half());
        case KS_BFLOAT16: return run(BFloat16());
        default: return KS_ERROR_DTYPE;
    }
}
