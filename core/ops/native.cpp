// What Hugging Face's Qwen2 launches in eager mode, operator by operator. Everything is measured against this, so it is
// neither optimised nor pessimised: the same kernels in the same order with the same roundings.

#include <ATen/ATen.h>

#include "core/ops/patch_table.h"

namespace kernelscope {
namespace {

// Eight kernels in a 16-bit type, six in float32, where the two casts are no-ops.
at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor variance = wide.pow(2).mean(-1, /*keepdim=*/true);
    return weight * (wide * at::rsqrt(variance + eps)).to(x.scalar_type());
}

at::Tensor siluMul(const at::Tensor& gate, const at::Tensor& up) { return at::silu(gate) * up; }

at::Tensor rotateHalf(const at::Tensor& x) {
    const std::int64_t half = x.size(-1) / 2;
    return at::cat({-x.narrow(-1, half, x.size(-1) - half), x.narrow(-1, 0, half)}, -1);
}

std::pair<at::Tensor, at::Tensor> rope(const at::Tensor& q, const at::Tensor& k, const at::Tensor& cos, const at::Tensor& sin) {
    at::Tensor rotatedQ = (q * cos) + (rotateHalf(q) * sin);
    at::Tensor rotatedK = (k * cos) + (rotateHalf(k) * sin);
    return {std::move(rotatedQ), std::move(rotatedK)};
}

}  // namespace

PatchTable nativePatchTable() {
    PatchTable table;
    table.rmsNorm = rmsNorm;
    table.siluMul = siluMul;
    table.rope = rope;
    return table;
}

}  // namespace kernelscope
