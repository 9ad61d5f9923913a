// The SwiGLU gate: out = round(silu(gate)) * up. [rows, width].

#include <ATen/ATen.h>

#include "core/ops/examples.h"
#include "core/ops/kernel_call.h"
#include "core/ops/operator.h"

namespace kernelscope {
namespace {

enum Input : std::size_t { gate, up };

template <typename Function>  // of the C ABI, or a LaunchCall
Result<Tensors> call(const Function& function, const Operands& o) {
    const at::Tensor& in = o.inputs[gate];
    const std::int64_t rows = in.size(0), width = in.size(1);
    const Result<int> dtype = kernelDtype(in);
    if (!dtype) return dtype.error();
    const Result<RowView> from = rowView(in, "gate", rows, width);
    if (!from) return from.error();
    const Result<RowView> factor = rowView(o.inputs[up], "up", rows, width);
    if (!factor) return factor.error();
    const Result<RowView> to = rowView(o.outputs[0], "out", rows, width);
    if (!to) return to.error();
    const auto status = function(to->data, from->data, factor->data, rows, width, from->stride, factor->stride, to->stride, *dtype,
                                currentStream(in.device()));
    return answer(status, o, "silu_mul");
}

class SiluMul final : public Operator {
public:
    SiluMul() : Operator("silu_mul") {}

    std::vector<OperandInfo> inputs() const override { return {{"gate", OperandKind::rows}, {"up", OperandKind::rows}}; }
    std::vector<std::string> outputs() const override { return {"out"}; }

    Operands example(const OperatorShape& shape, at::ScalarType dtype, std::uint64_t seed, Content content) const override {
        const std::int64_t sizes[]{shape.rows, shape.width};
        // A gate of 300 and more is 0 or itself; times an `up` of as much it is beyond float16.
        return {{exampleRows(sizes, dtype, seed, 0, content), exampleRows(sizes, dtype, seed, 1, content)}, {}};
    }

    Tensors native(const Operands& o) const override { return {m_native(o.inputs[gate], o.inputs[up])}; }
    Tensors otherOrder(const Operands& o) const override {
        return {(at::silu(o.inputs[gate].to(at::kFloat)) * o.inputs[up].to(at::kFloat)).to(o.inputs[gate].scalar_type())};
    }
    Exact exact(const Operands& o) const override {
        return {{at::silu(o.inputs[gate].to(at::kDouble)) * o.inputs[up].to(at::kDouble)}, {at::Tensor()}};
    }

    Work work(const OperatorShape& shape, at::ScalarType dtype) const override {
        const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.width);
        // Negate, exp, add, divide, multiply.
        return {3 * elements * static_cast<double>(c10::elementSize(dtype)), 5 * elements};
    }

    Result<Variant> fromKernel(const KernelEntry& entry) const override {
        const auto* function = std::get_if<SiluMulFunction>(&entry.function);
        if (!function) return makeError(ErrorCode::usage, std::string(entry.variant) + " is no kernel of silu_mul");
        Variant variant = describeKernel(entry);
        variant.run = [function = *function](const Operands& o) { return call(function, o); };
        return variant;
    }
    Variant fromLaunch(Variant described, KernelLaunch launch) const override {
        described.run = [launch = LaunchCall(std::move(launch))](const Operands& o) { return call(launch, o); };
        return described;
    }

    void patch(PatchTable& table, const Variant& variant, LaunchCounter count) const override {
        table.siluMul = [variant, count = std::move(count)](const at::Tensor& gate, const at::Tensor& up) {
            if (count) count();
            Operands operands{{asRows(gate), asRows(up)}, {}};
            if (!variant.ownOutputs) operands.outputs.push_back(at::empty(operands.inputs[0].sizes(), gate.options()));
            Result<Tensors> results = variant.run(operands);
            if (!results) throwRefusal("silu_mul", variant.name, results.error());
            return results->front().view(gate.sizes());
        };
    }

private:
    decltype(PatchTable::siluMul) m_native = nativePatchTable().siluMul;
};

}  // namespace

std::unique_ptr<Operator> makeSiluMul(const KernelTable& kernels) {
    auto op = std::make_unique<SiluMul>();
    op->add(nativeVariant(*op, "silu, rounded, then the product: two kernels"));
    addKernelVariants(*op, kernels);
    return op;
}

}  // namespace kernelscope
