#pragma once
// The user's own dispatch table of our CUDA kernels: what `tune` found on this GPU, kept in a file a GPU model, in force in every job.

#include <filesystem>
#include <string>

#include "core/device/device.h"
#include "core/ops/kernel_table_file.h"

namespace kernelscope {

/// Where the table of a GPU model lies.
std::filesystem::path kernelTablePath(const std::string& gpu);

/// Puts the GPU's file in force on the device (which must be active) and says in words what is, for a run's environment: "built-in",
/// "84 cells tuned here", or why the file is left out. Empty on a CPU. Cells whose configuration this version does not have are left out.
std::string useKernelTable(const Device& device);

}  // namespace kernelscope
