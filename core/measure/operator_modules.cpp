#include "core/measure/operator_modules.h"

#include <array>

#include <ATen/ATen.h>

namespace kernelscope {
namespace {

constexpr std::array<std::string_view, 4> kOperators{"rms_norm", "add_rms_norm", "silu_mul", "rope"};  // in the order of Place

using Modules = std::shared_ptr<std::vector<ModuleInfo>>;

template <typename Result, typename... Arguments>
std::function<Result(Arguments...)> underHooks(const std::function<Result(Arguments...)>& function, Hooks& hooks, const Modules& modules, std::size_t place) {
    if (!function) return function;
    return [function, &hooks, modules, place](Arguments... arguments) { return hooks.call((*modules)[place], [&] { return function(arguments...); }); };
}

}  // namespace

OperatorModules::OperatorModules(const std::vector<ModuleInfo>& modelModules)
    : m_modules(std::make_shared<std::vector<ModuleInfo>>(modelModules)), m_first(modelModules.size()) {
    for (std::string_view op : kOperators) {
        ModuleInfo info;
        info.index = static_cast<int>(m_modules->size());
        info.path = rowName(op);
        info.isOperator = true;
        m_modules->push_back(std::move(info));
    }
}

PatchTable OperatorModules::instrument(const PatchTable& table, Hooks& hooks) const {
    PatchTable made;
    made.rmsNorm = underHooks(table.rmsNorm, hooks, m_modules, m_first + rmsNorm);
    made.addRmsNorm = underHooks(table.addRmsNorm, hooks, m_modules, m_first + addRmsNorm);
    made.siluMul = underHooks(table.siluMul, hooks, m_modules, m_first + siluMul);
    made.rope = underHooks(table.rope, hooks, m_modules, m_first + rope);
    return made;
}

std::string OperatorModules::rowName(std::string_view op) { return "op:" + std::string(op); }

PatchTable withUnfusedAddRmsNorm(PatchTable table) {
    table.addRmsNorm = [norm = table.rmsNorm](const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, double eps) {
        at::Tensor sum = residual + x;
        at::Tensor normed = norm(sum, weight, eps);
        return std::pair(std::move(normed), std::move(sum));
    };
    return table;
}

}  // namespace kernelscope
