#include "core/engine/job_patch.h"

namespace kernelscope {

Result<JobPatch> JobPatch::read(const std::string& text, const ModelSetup& setup) {
    JobPatch patch;
    patch.m_operators = std::make_shared<OperatorTable>(builtinOperators());
    Result<Patch> made = makePatchTable(text, *patch.m_operators, setup.device.torch);
    if (!made) return made.error();
    patch.m_patch = std::move(*made);
    return patch;
}

void JobPatch::describe(nlohmann::json& result) const {
    for (const PatchChoice& choice : m_patch.choices) {
        result["patch"].push_back({{"op", choice.op}, {"variant", choice.variant}, {"launches", m_patch.counts->of(choice.op, choice.variant)}});
    }
}

}  // namespace kernelscope
