#pragma once
// The measuring half of the end-to-end ledger: shares of the native passes, and each kernel pair alone.

#include <string>
#include <vector>

#include "core/engine/job.h"
#include "core/engine/job_patch.h"
#include "core/engine/model_setup.h"
#include "core/measure/end_to_end.h"
#include "core/measure/ledger.h"
#include "core/model/generate.h"

namespace kernelscope {

/// A mode of which a ledger is wanted, and what its native runs took.
struct LedgerMode {
    bool graph = false;
    Generator* generator = nullptr;  ///< its native one: the passes run on its cache
    double prefillMs = 0;            ///< to the first token
    double decodeMs = 0;             ///< all steps of a run together
    double stepMs = 0;               ///< one of them
};

struct LedgerTask {
    const ModelSetup& setup;
    const JobPatch& patch;
    EndToEndShape shape;
    std::int64_t newTokens = 0;
    at::Tensor prompt;  ///< int64 [prompt], on the CPU
};

/// One ledger a mode, `measured` left open. What could not be measured stays unknown and is said in `notes`.
/// Errors: cancelled, environment. The model's table is changed.
Result<std::vector<Ledger>> measureLedgers(const LedgerTask& task, const std::vector<LedgerMode>& modes, Qwen2Model& model, JobContext& context,
                                           std::vector<std::string>& notes);

}  // namespace kernelscope
