// Rotary position embedding of q [tokens, heads, head_dim] and k [tokens, kv_heads, head_dim], half-split, in place.
//
// The model's sequence takes cos and sin rows of the tokens, in the type; the kernels take float32 tables and positions, and
// round the table values themselves. Both forms are among the inputs, made from the same angles.

#include <cmath>

#include <ATen/ATen.h>

#include "core/ops/examples.h"
#include "core/ops/kernel_call.h"
#include "core/ops/operator.h"

namespace kernelscope {
namespace {

enum Input : std::size_t { q, k, cosTable, sinTable, positions, cosRows, sinRows };

constexpr double kTheta = 1e6;
// Tables are longer than the tokens, so that positions need not start at 0 nor follow the tokens' order.
constexpr std::int64_t kSpare = 61;

template <typename Function>  // of the C ABI, or a LaunchCall
Result<Tensors> call(const Function& function, const Operands& o) {
    const at::Tensor& queries = o.outputs[q];
    const at::Tensor& keys = o.outputs[k];
    const std::int64_t tokens = queries.size(0), heads = queries.size(1), kvHeads = keys.size(1), headDim = queries.size(2);
    const Result<int> dtype = kernelDtype(queries);
    if (!dtype) return dtype.error();
    const Result<RowView> rowsQ = rowView(queries, "q", tokens, heads * headDim);
    if (!rowsQ) return rowsQ.error();
    const Result<RowView> rowsK = rowView(keys, "k", tokens, kvHeads * headDim);
    if (!rowsK) return rowsK.error();
    const auto status = function(rowsQ->data, rowsK->data, o.inputs[cosTable].const_data_ptr(), o.inputs[sinTable].const_data_ptr(),
                                o.inputs[positions].const_data_ptr<std::int64_t>(), tokens, heads, kvHeads, headDim, rowsQ->stride,
                                rowsK->stride, *dtype, currentStream(queries.device()));
    return answer(status, o, "rope");
}

// [tokens, heads, head_dim] as the model has it: [1, heads, tokens, head_dim], and back.
at::Tensor byHead(const at::Tensor& rows) { return rows.transpose(0, 1).unsqueeze(0); }
at::Tensor byToken(const at::Tensor& heads) { return heads.squeeze(0).transpose(0, 1); }

at::Tensor rotateHalf(const at::Tensor& x) {
    const std::int64_t half = x.size(-1) / 2;
    return at::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
}

/// What the model's cos and sin of one pass become for the kernels. A pass hands the same two tensors to every layer, so this is
/// made once a pass; holding them keeps their identity from being given to others.
class PassTables {
public:
    void take(const at::Tensor& cos, const at::Tensor& sin, std::int64_t batch) {
        if (m_cos.is_same(cos) && m_batch == batch) return;
        m_cos = cos;
        m_batch = batch;
        cosTable = cos.to(at::kFloat).contiguous();
        sinTable = sin.to(at::kFloat).contiguous();
        positions = at::arange(cos.size(0), cos.options().dtype(at::kLong));
        if (batch > 1) positions = positions.repeat({batch});
    }
    at::Tensor cosTable, sinTable, positions;

private:
    at::Tensor m_cos;
    std::int64_t m_batch = 0;
};

/// [batch, heads, tokens, head_dim] as [batch * tokens, heads, head_dim] with the heads of a token side by side: a view where the
/// memory lies so (the projections' own output does), else a copy.
at::Tensor tokenRows(const at::Tensor& x) {
    const std::int64_t batch = x.size(0), heads = x.size(1), tokens = x.size(2), headDim = x.size(3);
    const bool inside = x.stride(3) == 1 && (heads == 1 || x.stride(1) == headDim);
    const bool between = batch == 1 || tokens == 1 || x.stride(0) == tokens * x.stride(2);
    const std::int64_t stride = tokens == 1 ? x.stride(0) : x.stride(2);
    if (inside && between) return x.as_strided({batch * tokens, heads, headDim}, {stride, headDim, 1});
    return x.transpose(1, 2).reshape({batch * tokens, heads, headDim}).contiguous();
}

at::Tensor backToHeads(const at::Tensor& rows, const at::Tensor& like) {
    return rows.view({like.size(0), like.size(2), like.size(1), like.size(3)}).transpose(1, 2);
}

class Rope final : public Operator {
public:
    Rope() : Operator("rope") {}

    std::vector<OperandInfo> inputs() const override {
        return {{"q", OperandKind::rows},          {"k", OperandKind::rows},         {"cos", OperandKind::shared},     {"sin", OperandKind::shared},
                {"positions", OperandKind::perRow}, {"cos rows", OperandKind::perRow}, {"sin rows", OperandKind::perRow}};
    }
    std::vector<std::string> outputs() const override { return {"q", "k"}; }
    bool inPlace() const override { return true; }

    Operands example(const OperatorShape& shape, at::ScalarType dtype, std::uint64_t seed, Content content) const override {
        const std::int64_t length = shape.rows + kSpare;
        const at::Tensor place = at::arange(length, at::kDouble).unsqueeze(1);
        const at::Tensor exponent = at::arange(0, shape.headDim, 2, at::kDouble) / static_cast<double>(shape.headDim);
        const at::Tensor angles = place * at::pow(at::scalar_tensor(kTheta, at::kDouble), -exponent);
        const at::Tensor both = at::cat({angles, angles}, -1).slice(-1, 0, shape.headDim);
        const at::Tensor cos = both.cos().to(at::kFloat), sin = both.sin().to(at::kFloat);
        // 7 t + 5 visits places out of order and never one twice, as long as 7 does not divide the length.
        const at::Tensor positions = (7 * at::arange(shape.rows, at::kLong) + 5).remainder(length % 7 == 0 ? length - 1 : length);
        return {{exampleRows({shape.rows, shape.heads, shape.headDim}, dtype, seed, 0, content),
                 exampleRows({shape.rows, shape.kvHeads, shape.headDim}, dtype, seed, 1, content), cos, sin, positions,
                 cos.index_select(0, positions).to(dtype), sin.index_select(0, positions).to(dtype)},
                {}};
    }

    Tensors native(const Operands& o) const override {
        const auto rotated = m_native(byHead(o.inputs[q]), byHead(o.inputs[k]), o.inputs[cosRows], o.inputs[sinRows]);
        return {byToken(rotated.first), byToken(rotated.second)};
    }
    Tensors otherOrder(const Operands& o) const override {
        return rotated(o, at::kFloat, [&](const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
            return (x * cos + rotateHalf(x) * sin).to(o.inputs[q].scalar_type());
        });
    }
    Exact exact(const Operands& o) const override {
        Exact answer;
        answer.values = rotated(o, at::kDouble, [](const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
            return x * cos + rotateHalf(x) * sin;
        });
        answer.magnitudes = rotated(o, at::kDouble, [](const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
            return (x * cos).abs() + (rotateHalf(x) * sin).abs();
        });
        return answer;
    }

    Work work(const OperatorShape& shape, at::ScalarType dtype) const override {
        const double elements = static_cast<double>(shape.rows * (shape.heads + shape.kvHeads)) * static_cast<double>(shape.headDim);
        const double tables = 2.0 * 4.0 * static_cast<double>(shape.rows * shape.headDim);
        return {2 * elements * static_cast<double>(c10::elementSize(dtype)) + tables + 8.0 * static_cast<double>(shape.rows), 3 * elements};
    }

    Result<Variant> fromKernel(const KernelEntry& entry) const override {
        const auto* function = std::get_if<RopeFunction>(&entry.function);
        if (!function) return makeError(ErrorCode::usage, std::string(entry.variant) + " is no kernel of rope");
        Variant variant = describeKernel(entry);
        variant.run = [function = *function](const Operands& o) { return call(function, o); };
        return variant;
    }
    Variant fromLaunch(Variant described, KernelLaunch launch) const override {
        described.run = [launch = LaunchCall(std::move(launch))](const Operands& o) { return call(launch, o); };
        return described;
    }

    void patch(PatchTable& table, const Variant& variant, LaunchCounter count) const override {
        auto tables = std::make_shared<PassTables>();
        table.rope = [variant, tables, count = std::move(count)](const at::Tensor& q, const at::Tensor& k, const at::Tensor& cos, const at::Tensor& sin) {
            if (count) count();
            tables->take(cos, sin, q.size(0));
            at::Tensor rowsQ = tokenRows(q), rowsK = tokenRows(k);
            Operands operands{{rowsQ, rowsK, tables->cosTable, tables->sinTable, tables->positions, {}, {}}, {rowsQ, rowsK}};
            if (variant.ownOutputs) {
                operands.inputs[cosRows] = q.size(0) > 1 ? cos.repeat({q.size(0), 1}) : cos;
                operands.inputs[sinRows] = q.size(0) > 1 ? sin.repeat({q.size(0), 1}) : sin;
            }
            Result<Tensors> results = variant.run(operands);
            if (!results) throwRefusal("rope", variant.name, results.error());
            return std::pair(backToHeads((*results)[0], q), backToHeads((*results)[1], k));
        };
    }

private:
    template <typename Rotate>
    static Tensors rotated(const Operands& o, at::ScalarType type, const Rotate& rotate) {
        const at::Tensor cos = o.inputs[cosRows].to(type).unsqueeze(1), sin = o.inputs[sinRows].to(type).unsqueeze(1);
        return {rotate(o.inputs[q].to(type), cos, sin), rotate(o.inputs[k].to(type), cos, sin)};
    }

    decltype(PatchTable::rope) m_native = nativePatchTable().rope;
};

}  // namespace

std::unique_ptr<Operator> makeRope(const KernelTable& kernels) {
    auto op = std::make_unique<Rope>();
    op->add(nativeVariant(*op, "products and a concatenation of the halves: ten kernels"));
    addKernelVariants(*op, kernels);
    return op;
}

}  // namespace kernelscope
