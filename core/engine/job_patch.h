#pragma once
// The patch that a job's model runs with: read before the work begins, proven right at the model's own shapes before its first use.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/engine/job.h"
#include "core/engine/job_kernel.h"
#include "core/engine/model_setup.h"
#include "core/ops/patch.h"

namespace kernelscope {

struct PatchVerdict;

class JobPatch {
public:
    /// The words of `--patch`, read against the operators (a kernel of the user's own among them) and the device. Errors: those of makePatchTable.
    static Result<JobPatch> read(const std::string& text, const ModelSetup& setup, const JobKernel& kernel = {});

    [[nodiscard]] const PatchTable& table() const { return m_patch.table; }
    [[nodiscard]] const std::vector<PatchChoice>& choices() const { return m_patch.choices; }
    [[nodiscard]] const OperatorTable& operators() const { return *m_operators; }
    [[nodiscard]] const LaunchCounts& launches() const { return *m_patch.counts; }
    [[nodiscard]] bool empty() const { return m_patch.choices.empty(); }

    /// Validates every patched variant at the model's shapes and type, for these row counts. Errors: wrong, when one is or refuses;
    /// another rounding order was asked for by name and is noted in the result. From here on the context says that the patch runs.
    Result<void> prove(const ModelSetup& setup, const std::vector<std::int64_t>& rowCounts, JobContext& context);

    /// What of the patch is not native, for JobContext::kernel: "rms_norm=my_norm".
    [[nodiscard]] std::string inForce() const;

    /// What validation said, for describe().
    void remember(const std::vector<PatchVerdict>& verdicts);

    /// `patch` in a job's result: for every patched operator its variant, what validation said, and its launches. Nothing without
    /// a patch.
    void describe(nlohmann::json& result) const;

private:
    std::shared_ptr<OperatorTable> m_operators;  ///< the table's native variants refer to it
    Patch m_patch;
    struct Finding {
        std::string status, reason;
    };
    std::map<std::string, Finding> m_findings;  ///< by op=variant
};

}  // namespace kernelscope
