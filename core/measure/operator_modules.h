#pragma once
// The replaceable operators as modules of their own, so that spans and GPU time of each can be measured like any module's.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/hooks.h"
#include "core/ops/patch_table.h"

namespace kernelscope {

class OperatorModules {
public:
    explicit OperatorModules(const std::vector<ModuleInfo>& modelModules);

    /// The model's modules and after them one for each operator: what measureSpans and measureGraph take at level `op`.
    [[nodiscard]] const std::vector<ModuleInfo>& modules() const { return *m_modules; }

    /// `table` with each operator under the hooks of its module. An empty addRmsNorm stays empty.
    [[nodiscard]] PatchTable instrument(const PatchTable& table, Hooks& hooks) const;

    /// Name of an operator's row at level `op`: "op:rms_norm".
    static std::string rowName(std::string_view op);

private:
    enum Place : std::size_t { rmsNorm, addRmsNorm, siluMul, rope };

    std::shared_ptr<std::vector<ModuleInfo>> m_modules;  // instrumented tables refer to it
    std::size_t m_first;
};

/// `table` with the add and the norm that it calls one after the other as one operator: the same kernels, one border around them.
PatchTable withUnfusedAddRmsNorm(PatchTable table);

}  // namespace kernelscope
