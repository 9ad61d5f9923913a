#pragma once
// The preconditions of the C functions, the same for CUDA and CPU. They look at addresses and sizes only, never at memory.

#include "kernels/common/arguments.h"

namespace kernelscope::kernels {

/// Bytes of an element, or 0 for an unknown dtype code.
[[nodiscard]] int64_t elementSize(int dtype);

/// A ks_status. KS_OK does not say that there is work: see isEmpty.
[[nodiscard]] int check(const NormArguments& a, bool withResidual);
[[nodiscard]] int check(const SiluMulArguments& a);
[[nodiscard]] int check(const RopeArguments& a);

[[nodiscard]] inline bool isEmpty(const NormArguments& a) { return a.rows == 0 || a.hidden == 0; }
[[nodiscard]] inline bool isEmpty(const SiluMulArguments& a) { return a.rows == 0 || a.width == 0; }
[[nodiscard]] inline bool isEmpty(const RopeArguments& a) { return a.tokens == 0 || a.headDim == 0 || a.qHeads + a.kvHeads == 0; }

/// Rows of elements in memory: what an operand touches.
struct Rows {
    const void* base = nullptr;
    int64_t rows = 0;
    int64_t width = 0;
    int64_t stride = 0;
};

enum class Overlap { none, same, partial };

/// How two operands of one element size lie to each other. Exact where their strides agree or their ranges are apart; otherwise the
/// cautious answer, partial.
[[nodiscard]] Overlap overlap(const Rows& a, const Rows& b, int64_t elementBytes);

/// True when every row of the operand starts at a multiple of 16 bytes.
[[nodiscard]] bool alignedTo16(const Rows& rows, int64_t elementBytes);

}  // namespace kernelscope::kernels
