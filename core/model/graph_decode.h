#pragma once
// Decode steps as one CUDA graph: a launch a token instead of a thousand.

#include <memory>

#include "core/model/generate.h"
#include "core/records/result.h"

namespace kernelscope {

/// Captures a step of the generator's model with the patch table in force: the pass, the greedy choice among ids below
/// `usableVocab` (0: all) into the generator's tokens, and the move to the next position, so that a replay needs nothing
/// from the host. Give it to generator.setDecodeStep(). Capture again after another patch table; hooks see the capture
/// only. The generator, its model and this step belong together: none may outlive another. Errors: environment (no CUDA
/// device, an operator that cannot be captured).
Result<std::unique_ptr<DecodeStep>> captureDecodeStep(Generator& generator, std::int64_t usableVocab = 0);

}  // namespace kernelscope
