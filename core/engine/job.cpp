#include "core/engine/job.h"

#include <array>

#include "core/engine/model_get_job.h"

namespace kernelscope {

std::span<const JobKind> jobKinds() {
    static constexpr std::array kKinds{
        JobKind{"profile", makeProfileJob},
        JobKind{"generate", makeGenerateJob},
        JobKind{"e2e", makeEndToEndJob},
        JobKind{"context", makeContextJob},
        JobKind{"validate", makeValidateJob},
        JobKind{"sweep", makeSweepJob},
        JobKind{"tune", makeTuneJob},
        JobKind{"model_get", makeModelGetJob},
    };
    return kKinds;
}

Finished cancelled() {
    Finished finished;
    finished.status = RunStatus::cancelled;
    finished.error = makeError(ErrorCode::cancelled, "Cancelled");
    return finished;
}

Finished failed(Error error) {
    Finished finished;
    finished.status = error.code == ErrorCode::cancelled ? RunStatus::cancelled : RunStatus::failed;
    finished.error = std::move(error);
    return finished;
}

}  // namespace kernelscope
