#pragma once
// The patch that a job's model runs with: read before the work begins, proven right at the model's own shapes before its first use.

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/engine/job.h"
#include "core/engine/model_setup.h"
#include "core/ops/patch.h"

namespace kernelscope {

class JobPatch {
public:
    /// The words of `--patch`, read against the operators and the device. Errors: those of makePatchTable.
    static Result<JobPatch> read(const std::string& text, const ModelSetup& setup);

    [[nodiscard]] const PatchTable& table() const { return m_patch.table; }
    [[nodiscard]] const std::vector<PatchChoice>& choices() const { return m_patch.choices; }
    [[nodiscard]] const LaunchCounts& launches() const { return *m_patch.counts; }
    [[nodiscard]] bool empty() const { return m_patch.choices.empty(); }

    /// `patch` in a job's result: for every patched operator its variant and its launches. Nothing without a patch.
    void describe(nlohmann::json& result) const;

private:
    std::shared_ptr<OperatorTable> m_operators;  ///< the table's native variants refer to it
    Patch m_patch;
};

}  // namespace kernelscope
