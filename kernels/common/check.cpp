#include "kernels/common/check.h"

#include <initializer_list>
#include <limits>
#include <utility>

#include "kernels/include/kernelscope/kernels.h"

namespace kernelscope::kernels {
namespace {

/// Elements from the first to behind the last that the operand touches; -1 where that does not fit an address.
int64_t extent(const Rows& r) {
    int64_t last = 0;
    int64_t count = 0;
    if (__builtin_mul_overflow(r.rows - 1, r.rows == 1 ? 0 : r.stride, &last)) return -1;
    if (__builtin_add_overflow(last, r.width, &count)) return -1;
    return count > std::numeric_limits<int64_t>::max() / 8 ? -1 : count;
}

int checkOperands(std::initializer_list<Rows> inputs, std::initializer_list<Rows> outputs, int64_t bytes) {
    for (const auto& list : {inputs, outputs})
        for (const Rows& r : list) {
            if (r.rows == 0 || r.width == 0) continue;
            if (r.base == nullptr) return KS_ERROR_NULL_POINTER;
            if (reinterpret_cast<uintptr_t>(r.base) % static_cast<uintptr_t>(bytes) != 0) return KS_ERROR_ALIGNMENT;
            if (r.rows > 1 && r.stride < 0) return KS_ERROR_STRIDE;
            if (extent(r) < 0) return KS_ERROR_SIZE;
        }
    for (const Rows& out : outputs)
        if (out.rows > 1 && out.stride < out.width) return KS_ERROR_STRIDE;
    for (const Rows* out = outputs.begin(); out != outputs.end(); ++out) {
        for (const Rows& in : inputs)
            if (overlap(*out, in, bytes) == Overlap::partial) return KS_ERROR_OVERLAP;
        for (const Rows* other = outputs.begin(); other != out; ++other)
            if (overlap(*out, *other, bytes) != Overlap::none) return KS_ERROR_OVERLAP;
    }
    return KS_OK;
}

/// A read-only operand whose rows are not those of an output (weights, tables): any overlap is wrong.
int checkApart(const Rows& in, std::initializer_list<Rows> outputs, int64_t outputBytes, int64_t inputBytes) {
    // Compared in bytes, because the element sizes may differ.
    const Rows inBytes{in.base, in.rows, in.width * inputBytes, in.stride * inputBytes};
    for (const Rows& out : outputs)
        if (overlap({out.base, out.rows, out.width * outputBytes, out.stride * outputBytes}, inBytes, 1) != Overlap::none)
            return KS_ERROR_OVERLAP;
    return KS_OK;
}

}  // namespace

int64_t elementSize(int dtype) {
    switch (dtype) {
        case KS_FLOAT32: return 4;
        case KS_FLOAT16:
        case KS_BFLOAT16: return 2;
        default: return 0;
    }
}

Overlap overlap(const Rows& a, const Rows& b, int64_t elementBytes) {
    if (a.rows == 0 || b.rows == 0 || a.width == 0 || b.width == 0) return Overlap::none;
    const auto begin = [](const Rows& r) { return reinterpret_cast<uintptr_t>(r.base); };
    const auto end = [&](const Rows& r) { return begin(r) + static_cast<uintptr_t>(extent(r) * elementBytes); };
    if (end(a) <= begin(b) || end(b) <= begin(a)) return Overlap::none;
    const bool oneRow = a.rows == 1 && b.rows == 1;
    if (begin(a) == begin(b) && a.rows == b.rows && a.width == b.width && (oneRow || a.stride == b.stride)) return Overlap::same;
    if (oneRow || a.stride != b.stride || a.stride == 0) return Overlap::partial;
    // Equal strides: b starts `shift` elements into one of a's row periods. They meet unless b's row fits behind a's in that period.
    const auto distance = static_cast<int64_t>(begin(b) - begin(a));
    const int64_t period = a.stride * elementBytes;
    const int64_t shift = ((distance % period) + period) % period;
    const bool apart = shift >= a.width * elementBytes && shift + b.width * elementBytes <= period;
    return apart ? Overlap::none : Overlap::partial;
}

bool alignedTo16(const Rows& r, int64_t elementBytes) {
    const bool base = reinterpret_cast<uintptr_t>(r.base) % 16 == 0;
    return base && (r.rows <= 1 || r.stride * elementBytes % 16 == 0);
}

int check(const NormArguments& a, bool withResidual) {
    const int64_t bytes = elementSize(a.dtype);
    if (bytes == 0) return KS_ERROR_DTYPE;
    if (a.rows < 0 || a.hidden < 0) return KS_ERROR_SIZE;
    if (isEmpty(a)) return KS_OK;
    const Rows x{a.x, a.rows, a.hidden, a.xStride};
    const Rows out{a.out, a.rows, a.hidden, a.outStride};
    const Rows weight{a.weight, 1, a.hidden, a.hidden};
    if (!withResidual) {
        if (const int status = checkOperands({x, weight}, {out}, bytes); status != KS_OK) return status;
        return checkApart(weight, {out}, bytes, bytes);
    }
    const Rows residual{a.residual, a.rows, a.hidden, a.residualStride};
    const Rows residualOut{a.residualOut, a.rows, a.hidden, a.residualOutStride};
    if (const int status = checkOperands({x, residual, weight}, {out, residualOut}, bytes); status != KS_OK) return status;
    return checkApart(weight, {out, residualOut}, bytes, bytes);
}

int check(const SiluMulArguments& a) {
    const int64_t bytes = elementSize(a.dtype);
    if (bytes == 0) return KS_ERROR_DTYPE;
    if (a.rows < 0 || a.width < 0) return KS_ERROR_SIZE;
    if (isEmpty(a)) return KS_OK;
    return checkOperands({{a.gate, a.rows, a.width, a.gateStride}, {a.up, a.rows, a.width, a.upStride}},
                         {{a.out, a.rows, a.width, a.outStride}}, bytes);
}

int check(const RopeArguments& a) {
    const int64_t bytes = elementSize(a.dtype);
    if (bytes == 0) return KS_ERROR_DTYPE;
    if (a.tokens < 0 || a.qHeads < 0 || a.kvHeads < 0 || a.headDim < 0 || a.headDim % 2 != 0) return KS_ERROR_SIZE;
    if (isEmpty(a)) return KS_OK;
    int64_t qWidth = 0;
    int64_t kWidth = 0;
    if (__builtin_mul_overflow(a.qHeads, a.headDim, &qWidth) || __builtin_mul_overflow(a.kvHeads, a.headDim, &kWidth))
        return KS_ERROR_SIZE;
    const Rows q{a.q, a.tokens, qWidth, a.qStride};
    const Rows k{a.k, a.tokens, kWidth, a.kStride};
    if (const int status = checkOperands({}, {q, k}, bytes); status != KS_OK) return status;
    // How many rows the tables have is not known here; their first row must be there and apart.
    const Rows cos{a.cos, 1, a.headDim, a.headDim};
    const Rows sin{a.sin, 1, a.headDim, a.headDim};
    const Rows positions{a.positions, 1, a.tokens, a.tokens};
    if (const int status = checkOperands({cos, sin}, {}, 4); status != KS_OK) return status;
    if (const int status = checkOperands({positions}, {}, 8); status != KS_OK) return status;
    for (const auto& [rows, size] : {std::pair<Rows, int64_t>{cos, 4}, {sin, 4}, {positions, 8}})
        if (const int status = checkApart(rows, {q, k}, bytes, size); status != KS_OK) return status;
    return KS_OK;
}

}  // namespace kernelscope::kernels
