#pragma once
// A CUDA kernel outside Kernelscope: its launch, as its header comment describes it, in plain CUDA C++.

#include <string>

#include "core/own/kernel_file.h"
#include "core/records/result.h"

namespace kernelscope {

/// Text of a source that includes the kernel's and defines its operator's C function (ks_rms_norm and so on). Errors: those of readDirectives;
/// usage where the file is no CUDA source.
Result<std::string> launcherSource(const KernelFile& file);

}  // namespace kernelscope
