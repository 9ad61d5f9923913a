#pragma once
// RMSNorm done wrong, each in a way of its own that somebody has shipped. All write to Operands::outputs, on either device.

#include <ATen/ATen.h>

#include "core/ops/operator.h"

namespace kernelscope::test {

inline Variant wrongKernel(std::string name, std::function<void(const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps)> body) {
    Variant variant;
    variant.name = std::move(name);
    variant.onCpu = variant.onCuda = true;
    variant.roundsLikeNative = true;  // so it says
    variant.run = [body = std::move(body)](const Operands& o) -> Result<Tensors> {
        body(o.inputs[0], o.inputs[1], o.outputs[0], o.eps);
        return o.outputs;
    };
    return variant;
}

inline at::Tensor rightNorm(const at::Tensor& x, const at::Tensor& weight, double eps) { return nativePatchTable().rmsNorm(x, weight, eps); }

inline Variant zeros() {
    return wrongKernel("zeros", [](const at::Tensor&, const at::Tensor&, at::Tensor out, double) { out.zero_(); });
}

inline Variant copyOfInput() {
    return wrongKernel("copy", [](const at::Tensor& x, const at::Tensor&, at::Tensor out, double) { out.copy_(x); });
}

/// Multiplies by the weight in float32 and casts afterwards.
inline Variant castAfterWeight() {
    return wrongKernel("cast_after_weight", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        const at::Tensor wide = x.to(at::kFloat);
        out.copy_(wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps) * weight.to(at::kFloat));
    });
}

/// Normalises in place on its way.
inline Variant inputWriter() {
    return wrongKernel("input_writer", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        const at::Tensor right = rightNorm(x, weight, eps);
        out.copy_(right);
        if (x.size(0) > 0) x.select(0, x.size(0) - 1).mul_(0.5);
    });
}

/// Rounds the hidden size up to a vector: the first element behind each row is written too.
inline Variant neighbourRowWriter() {
    return wrongKernel("neighbour_row", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        out.copy_(rightNorm(x, weight, eps));
        if (out.size(0) > 1) out.as_strided({out.size(0) - 1, 1}, {out.stride(0), 1}, out.storage_offset() + out.size(1)).zero_();
    });
}

/// Writes a few elements too many behind the last row.
inline Variant outOfBounds() {
    return wrongKernel("out_of_bounds", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        out.copy_(rightNorm(x, weight, eps));
        if (out.size(0) > 0) out.as_strided({8}, {1}, out.storage_offset() + (out.size(0) - 1) * out.stride(0) + out.size(1)).zero_();
    });
}

/// Casts the product by dropping bits.
inline Variant truncatingCast() {
    return wrongKernel("truncating_cast", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        const at::Tensor wide = x.to(at::kFloat);
        const at::Tensor normed = (wide * at::rsqrt(wide.pow(2).mean(-1, true) + eps)).to(x.scalar_type());
        const at::Tensor product = normed.to(at::kFloat) * weight.to(at::kFloat);
        at::Tensor cast = product.to(x.scalar_type());
        // The bits of a 16-bit float as an integer: one less is the next number towards zero, for either sign.
        const at::Tensor roundedUp = cast.to(at::kFloat).abs() > product.abs();
        cast.view(at::kShort).sub_(roundedUp.to(at::kShort));
        out.copy_(cast);
    });
}

/// Squares in float16.
inline Variant nanOnOverflow() {
    return wrongKernel("nan_on_overflow", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        const at::Tensor squares = x.to(at::kHalf).pow(2).to(at::kFloat);
        const at::Tensor normed = (at::sign(x.to(at::kFloat)) * at::sqrt(squares / (squares.mean(-1, true) + eps))).to(x.scalar_type());
        const bool overflows = !at::isfinite(squares).all().item<bool>();
        out.copy_(overflows ? normed * weight : rightNorm(x, weight, eps));
    });
}

/// Forgets the last row.
inline Variant oneRowShort() {
    return wrongKernel("one_row_short", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        if (x.size(0) > 1) out.narrow(0, 0, x.size(0) - 1).copy_(rightNorm(x.narrow(0, 0, x.size(0) - 1), weight, eps));
    });
}

/// Right at one hidden size, as a kernel with a constant in its loop.
inline Variant rightAtOneSize(std::int64_t hidden) {
    return wrongKernel("one_size", [hidden](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        const at::Tensor wide = x.to(at::kFloat);
        const at::Tensor mean = wide.pow(2).sum(-1, true) / static_cast<double>(hidden);
        out.copy_((wide * at::rsqrt(mean + eps)).to(x.scalar_type()) * weight);
    });
}

}  // namespace kernelscope::test
