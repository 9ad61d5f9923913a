#pragma once
// --watch: the job again at every save of a kernel's file, and what the new version changed.

#include "app/cli/job_runner.h"
#include "app/cli/own_kernel_option.h"

namespace kernelscope::cli {

/// Runs `request` for every version of the kernel until Ctrl+C; a version that is saved while an older one is measured takes its place.
/// Returns 130, or the code of what kept it from beginning.
int watchKernel(const CommonOptions& common, const JobRequest& request, const JobHooks& hooks, const OwnKernelOption& kernel);

}  // namespace kernelscope::cli
