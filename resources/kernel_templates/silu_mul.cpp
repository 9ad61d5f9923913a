// A kernel of your own for silu_mul on the CPU:  out = round(gate / (1 + exp(-gate))) * up
//
//   gate, up, out   [rows, width], each with a row stride of its own; elements within a row side by side
//   dtype           KS_FLOAT32, KS_FLOAT16 or KS_BFLOAT16, the type of all three
//
// Right means: rounded where the model rounds. The activation is stored in the type before it is multiplied, and the product is rounded again. out may
// be gate itself. Return KS_OK, or the error that says why not (KS_ERROR_DTYPE for a type you do not serve): that cell is then "refused".
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
void gateRow(T* out, const T* gate, const T* up, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
        const float x = toFloat(gate[i]);
        const T activated = fromFloat<T>(x / (1.0f + std::exp(-x)));
        out[i] = fromFloat<T>(toFloat(activated) * toFloat(up[i]));
    }
}

template <class T>
void gateRows(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gateStride, int64_t upStride, int64_t outStride) {
    for (int64_t row = 0; row < rows; ++row)
        gateRow(static_cast<T*>(out) + row * outStride, static_cast<const T*>(gate) + row * gateStride, static_cast<const T*>(up) + row * upStride, width);
}

}  // namespace

extern "C" int ks_cpu_silu_mul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride, int64_t up_row_stride,
                               int64_t out_row_stride, int dtype, [[maybe_unused]] void* stream) {
    switch (dtype) {
        case KS_FLOAT32: gateRows<float>(out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride); return KS_OK;
        case KS_FLOAT16: gateRows<Half>(out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride); return KS_OK;
        case KS_BFLOAT16: gateRows<BFloat16>(out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride); return KS_OK;
        default: return KS_ERROR_DTYPE;
    }
}
