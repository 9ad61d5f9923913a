#pragma once
// Variants that misbehave on purpose, so that the isolation of crashes and hangs can be proven with a real engine. They exist
// only in an engine started with KERNELSCOPE_TEST_VARIANTS=1 in its environment.

#include "core/ops/operator.h"

namespace kernelscope {

/// Adds test_crash (ends the process), test_hang (never returns; on CUDA a kernel that never ends) and test_fault (touches an
/// address that does not exist) to rms_norm, when the environment asks for them.
void addTestVariants(OperatorTable& operators);

/// Enqueues a kernel that never ends. Does nothing in a build without CUDA.
void launchEndlessKernel(void* stream);

}  // namespace kernelscope
