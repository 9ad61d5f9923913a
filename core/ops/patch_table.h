#pragma once
// Every replaceable operator that the model runs goes through this table. A patched model and a native one are the
// same code with another table. Tensors are [..., hidden], last dimension contiguous, on the model's device and dtype.

#include <functional>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>

namespace kernelscope {

struct PatchTable {
    /// out = cast(x_fp32 * rsqrt(mean(x_fp32^2) + eps)) * weight, the product in the dtype: the native rounding order.
    std::function<at::Tensor(const at::Tensor& x, const at::Tensor& weight, double eps)> rmsNorm;

    /// {norm(x + residual), x + residual}, the sum rounded to the dtype. Empty: the model adds, then calls rmsNorm,
    /// as two modules (Residual, RMSNorm); set: one call, counted as RMSNorm.
    std::function<std::pair<at::Tensor, at::Tensor>(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight,
                                                    double eps)> addRmsNorm;

    /// silu(gate) * up, silu rounded to the dtype first.
    std::function<at::Tensor(const at::Tensor& gate, const at::Tensor& up)> siluMul;

    /// Rotates q [batch, heads, tokens, head_dim] and k [batch, kv_heads, tokens, head_dim] by cos and sin
    /// [tokens, head_dim] (in the dtype), half-split form; returns the rotated pair (may be the inputs, changed).
    std::function<std::pair<at::Tensor, at::Tensor>(const at::Tensor& q, const at::Tensor& k, const at::Tensor& cos,
                                                    const at::Tensor& sin)> rope;
};

/// What the reference implementation runs, operator by operator (core/ops/native.cpp).
PatchTable nativePatchTable();

}  // namespace kernelscope
