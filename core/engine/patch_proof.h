#pragma once
// Right before fast: what a patch puts into a model is validated at that model's own shapes and type before it runs there.

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/job.h"
#include "core/engine/job_patch.h"
#include "core/engine/model_setup.h"

namespace kernelscope {

struct PatchVerdict {
    PatchChoice choice;
    std::string status;  ///< the worst over rows and cases: ok, other_order, refused, wrong, skipped
    std::string reason;
};

/// One verdict for each patched operator, each row count and type of the model's calls looked at. `native` is ok by definition.
/// Errors: cancelled; environment when the device faults.
Result<std::vector<PatchVerdict>> validatePatch(const JobPatch& patch, const ModelSetup& setup, const std::vector<std::int64_t>& rows, JobContext& context);

/// What of a patch may run. By name, a variant that is wrong or refuses is an error (wrong, usage), and another rounding order is
/// what was asked for. By default (`named` false) only what is ok stays, and it is an error when nothing does. `notes` gets a
/// sentence for everything that is not simply ok.
Result<std::vector<PatchChoice>> rightChoices(const std::vector<PatchVerdict>& verdicts, bool named, std::vector<std::string>& notes);

}  // namespace kernelscope
