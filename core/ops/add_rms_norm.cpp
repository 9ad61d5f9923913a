// Residual add and RMSNorm: residual_out = round(x + residual), out = norm of that stored sum. All [rows, hidden].

#include <ATen/ATen.h>

#include "core/ops/examples.h"
#include "core/ops/kernel_call.h"
#include "core/ops/norm_reference.h"
#include "core/ops/operator.h"

namespace kernelscope {
namespace {

enum Input : std::size_t { x, residual, weight };
enum Output : std::size_t { out, residualOut };

template <typename Function>  // of the C ABI, or a LaunchCall
Result<Tensors> call(const Function& function, const Operands& o) {
    const at::Tensor& in = o.inputs[x];
    const std::int64_t rows = in.size(0), hidden = in.size(1);
    const Result<int> dtype = kernelDtype(in);
    if (!dtype) return dtype.error();
    const Result<RowView> from = rowView(in, "x", rows, hidden);
    if (!from) return from.error();
    const Result<RowView> added = rowView(o.inputs[residual], "residual", rows, hidden);
    if (!added) return added.error();
    const Result<RowView> to = rowView(o.outputs[out], "out", rows, hidden);
    if (!to) return to.error();
    const Result<RowView> sum = rowView(o.outputs[residualOut], "residual_out", rows, hidden);
    if (!sum) return sum.error();
    const at::Tensor& scale = o.inputs[weight];
    if (hidden > 1 && scale.stride(0) != 1) return makeError(ErrorCode::usage, "weight must be contiguous");
    const auto status = function(to->data, sum->data, from->data, added->data, scale.const_data_ptr(), rows, hidden, from->stride, added->stride,
                                to->stride, sum->stride, static_cast<float>(o.eps), *dtype, currentStream(in.device()));
    return answer(status, o, "add_rms_norm");
}

class AddRmsNorm final : public Operator {
public:
    AddRmsNorm() : Operator("add_rms_norm") {}

    std::vector<OperandInfo> inputs() const override {
        return {{"x", OperandKind::rows}, {"residual", OperandKind::rows}, {"weight", OperandKind::shared}};
    }
    std::vector<std::string> outputs() const override { return {"out", "residual_out"}; }

    Operands example(const OperatorShape& shape, at::ScalarType dtype, std::uint64_t seed, Content content) const override {
        return {{exampleRows({shape.rows, shape.hidden}, dtype, seed, 0, content), exampleRows({shape.rows, shape.hidden}, dtype, seed, 2, content),
                 uniform({shape.hidden}, dtype, seed, 1, 0.5, 1.5)},
                {}};
    }

    Tensors native(const Operands& o) const override {
        at::Tensor sum = o.inputs[residual] + o.inputs[x];
        at::Tensor normed = m_native(sum, o.inputs[weight], o.eps);
        return {std::move(normed), std::move(sum)};
    }
    Tensors otherOrder(const Operands& o) const override {
        at::Tensor sum = o.inputs[residual] + o.inputs[x];
        at::Tensor normed = normRoundedOnce(sum, o.inputs[weight], o.eps);
        return {std::move(normed), std::move(sum)};
    }
    Exact exact(const Operands& o) const override {
        // The norm is that of the stored sum, which is rounded.
        const at::Tensor sum = o.inputs[residual] + o.inputs[x];
        return {{exactNorm(sum, o.inputs[weight], o.eps), o.inputs[residual].to(at::kDouble) + o.inputs[x].to(at::kDouble)},
                {at::Tensor(), at::Tensor()}};
    }

    Work work(const OperatorShape& shape, at::ScalarType dtype) const override {
        const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.hidden);
        const auto size = static_cast<double>(c10::elementSize(dtype));
        return {size * (4 * elements + static_cast<double>(shape.hidden)), 5 * elements};
    }

    Result<Variant> fromKernel(const KernelEntry& entry) const override {
        const auto* function = std::get_if<AddRmsNormFunction>(&entry.function);
        if (!function) return makeError(ErrorCode::usage, std::string(entry.variant) + " is no kernel of add_rms_norm");
        Variant variant = describeKernel(entry);
        variant.run = [function = *function](const Operands& o) { return call(function, o); };
        return variant;
    }
    Variant fromLaunch(Variant described, KernelLaunch launch) const override {
        described.run = [launch = LaunchCall(std::move(launch))](const Operands& o) { return call(launch, o); };
        return described;
    }

    void patch(PatchTable& table, const Variant& variant, LaunchCounter count) const override {
        if (variant.name == "native") return;  // an empty entry: the model adds, then calls the norm, as two modules
        table.addRmsNorm = [variant, count = std::move(count)](const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, double eps) {
            if (count) count();
            Operands operands{{asRows(x), asRows(residual), weight}, {}, eps};
            if (!variant.ownOutputs) {
                operands.outputs = {at::empty(operands.inputs[0].sizes(), x.options()), at::empty(operands.inputs[0].sizes(), x.options())};
            }
            Result<Tensors> results = variant.run(operands);
            if (!results) throwRefusal("add_rms_norm", variant.name, results.error());
            return std::pair((*results)[out].view(x.sizes()), (*results)[residualOut].view(x.sizes()));
        };
    }

private:
    decltype(PatchTable::rmsNorm) m_native = nativePatchTable().rmsNorm;
};

}  // namespace

std::unique_ptr<Operator> makeAddRmsNorm(const KernelTable& kernels) {
    auto op = std::make_unique<AddRmsNorm>();
    op->add(nativeVariant(*op, "the add, then the norm, as two modules"));
    op->add(ownVariant("aten", "the add, then at::rms_norm", [](const Operands& o) {
        at::Tensor sum = o.inputs[residual] + o.inputs[x];
        at::Tensor normed = at::rms_norm(sum, {sum.size(-1)}, o.inputs[weight], o.eps);
        return Tensors{std::move(normed), std::move(sum)};
    }));
    addKernelVariants(*op, kernels);
    return op;
}

}  // namespace kernelscope
