// RMSNorm: out = round(x * rsqrt(mean(x^2) + eps)) * weight. [rows, hidden], weight [hidden].

#include <ATen/ATen.h>

#include "core/ops/examples.h"
#include "core/ops/kernel_call.h"
#include "core/ops/norm_reference.h"
#include "core/ops/operator.h"

namespace kernelscope {
namespace {

enum Input : std::size_t { x, weight };

template <typename Function>  // of the C ABI, or a LaunchCall
Result<Tensors> call(const Function& function, const Operands& o) {
    const at::Tensor& in = o.inputs[x];
    const std::int64_t rows = in.size(0), hidden = in.size(1);
    const Result<int> dtype = kernelDtype(in);
    if (!dtype) return dtype.error();
    const Result<RowView> from = rowView(in, "x", rows, hidden);
    if (!from) return from.error();
    const Result<RowView> to = rowView(o.outputs[0], "out", rows, hidden);
    if (!to) return to.error();
    const at::Tensor& scale = o.inputs[weight];
    if (hidden > 1 && scale.stride(0) != 1) return makeError(ErrorCode::usage, "weight must be contiguous");
    const auto status = function(to->data, from->data, scale.const_data_ptr(), rows, hidden, from->stride, to->stride,
                                static_cast<float>(o.eps), *dtype, currentStream(in.device()));
    return answer(status, o, "rms_norm");
}

class RmsNorm final : public Operator {
public:
    RmsNorm() : Operator("rms_norm") {}

    std::vector<OperandInfo> inputs() const override { return {{"x", OperandKind::rows}, {"weight", OperandKind::shared}}; }
    std::vector<std::string> outputs() const override { return {"out"}; }

    Operands example(const OperatorShape& shape, at::ScalarType dtype, std::uint64_t seed, Content content) const override {
        return {{exampleRows({shape.rows, shape.hidden}, dtype, seed, 0, content), uniform({shape.hidden}, dtype, seed, 1, 0.5, 1.5)}, {}};
    }

    Tensors native(const Operands& o) const override { return {m_native(o.inputs[x], o.inputs[weight], o.eps)}; }
    Tensors otherOrder(const Operands& o) const override { return {normRoundedOnce(o.inputs[x], o.inputs[weight], o.eps)}; }
    Exact exact(const Operands& o) const override { return {{exactNorm(o.inputs[x], o.inputs[weight], o.eps)}, {at::Tensor()}}; }

    Work work(const OperatorShape& shape, at::ScalarType dtype) const override {
        const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.hidden);
        const auto size = static_cast<double>(c10::elementSize(dtype));
        // Square, add, two products; the mean and the root are once a row.
        return {size * (2 * elements + static_cast<double>(shape.hidden)), 4 * elements};
    }

    Result<Variant> fromKernel(const KernelEntry& entry) const override {
        const auto* function = std::get_if<RmsNormFunction>(&entry.function);
        if (!function) return makeError(ErrorCode::usage, std::string(entry.variant) + " is no kernel of rms_norm");
        Variant variant = describeKernel(entry);
        variant.run = [function = *function](const Operands& o) { return call(function, o); };
        return variant;
    }
    Variant fromLaunch(Variant described, KernelLaunch launch) const override {
        described.run = [launch = LaunchCall(std::move(launch))](const Operands& o) { return call(launch, o); };
        return described;
    }

    void patch(PatchTable& table, const Variant& variant, LaunchCounter count) const override {
        table.rmsNorm = [variant, count = std::move(count)](const at::Tensor& x, const at::Tensor& weight, double eps) {
            if (count) count();
            Operands operands{{asRows(x), weight}, {}, eps};
            if (!variant.ownOutputs) operands.outputs.push_back(at::empty(operands.inputs[0].sizes(), x.options()));
            Result<Tensors> results = variant.run(operands);
            if (!results) throwRefusal("rms_norm", variant.name, results.error());
            return results->front().view(x.sizes());
        };
    }

private:
    decltype(PatchTable::rmsNorm) m_native = nativePatchTable().rmsNorm;
};

}  // namespace

std::unique_ptr<Operator> makeRmsNorm(const KernelTable& kernels) {
    auto op = std::make_unique<RmsNorm>();
    op->add(nativeVariant(*op, "upcast, mean of squares, rsqrt, round, times weight: as Hugging Face's Qwen2"));
    op->add(ownVariant("aten", "at::rms_norm, one fused kernel on CUDA", [](const Operands& o) {
        return Tensors{at::rms_norm(o.inputs[x], {o.inputs[x].size(-1)}, o.inputs[weight], o.eps)};
    }));
    addKernelVariants(*op, kernels);
    return op;
}

}  // namespace kernelscope
