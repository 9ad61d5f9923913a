#include "core/ops/operator.h"

#include "core/model/config.h"

namespace kernelscope {

OperatorTable builtinOperators() {
    const KernelTable kernels = builtinKernels();
    std::vector<std::unique_ptr<Operator>> operators;
    operators.push_back(makeRmsNorm(kernels));
    operators.push_back(makeAddRmsNorm(kernels));
    operators.push_back(makeSiluMul(kernels));
    operators.push_back(makeRope(kernels));
    return OperatorTable(std::move(operators));
}

OperatorShape shapeFor(std::int64_t hidden, std::int64_t rows) {
    constexpr std::int64_t kHeadDim = 64;
    for (const Preset& preset : presets()) {
        const ModelConfig& config = preset.config;
        if (config.hiddenSize == hidden) return {hidden, rows, config.intermediateSize, config.heads, config.kvHeads, config.headDim};
    }
    const std::int64_t heads = std::max<std::int64_t>(1, hidden / kHeadDim);
    return {hidden, rows, 4 * hidden, heads, std::min<std::int64_t>(2, heads), kHeadDim};
}

Operands Operator::next(const Operands& last, const Tensors& results) const {
    Operands operands = last;
    if (inPlace() && !last.outputs.empty()) return operands;  // the buffers are inputs and outputs already
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!last.outputs.empty()) operands.outputs[i] = last.inputs[i];
        operands.inputs[i] = results[i];
    }
    return operands;
}

const Variant* Operator::find(std::string_view variant) const {
    for (const Variant& each : m_variants) {
        if (each.name == variant) return &each;
    }
    return nullptr;
}

void Operator::replace(Variant variant) {
    for (Variant& each : m_variants) {
        if (each.name == variant.name) each = std::move(variant);
    }
}

const Operator* OperatorTable::find(std::string_view name) const {
    for (const auto& each : m_operators) {
        if (each->name() == name) return each.get();
    }
    return nullptr;
}

Operator* OperatorTable::find(std::string_view name) {
    return const_cast<Operator*>(std::as_const(*this).find(name));
}

std::string OperatorTable::names() const {
    std::string names;
    for (const auto& each : m_operators) names += (names.empty() ? "" : ", ") + each->name();
    return names;
}

}  // namespace kernelscope
