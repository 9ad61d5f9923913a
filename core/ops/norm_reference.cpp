#include "core/ops/norm_reference.h"

#include <ATen/ATen.h>

namespace kernelscope {

at::Tensor exactNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
    const at::Tensor wide = x.to(at::kDouble);
    return wide * at::rsqrt((wide * wide).mean(-1, /*keepdim=*/true) + eps) * weight.to(at::kDouble);
}

at::Tensor normRoundedOnce(const at::Tensor& x, const at::Tensor& weight, double eps) {
    const at::Tensor wide = x.to(at::kFloat);
    return (weight.to(at::kFloat) * (wide * at::rsqrt(wide.pow(2).mean(-1, /*keepdim=*/true) + eps))).to(x.scalar_type());
}

}  // namespace kernelscope
