#pragma once
// The user's own dispatch table of our CUDA kernels: what `tune` found on this GPU, kept in a file a GPU model, in force in every job.

#include <filesystem>
#include <string>
#include <vector>

#include "core/device/device.h"

namespace kernelscope {

/// One cell, by names, so that it outlives a new version's numbering. As TuneRow (core/records/kernel_rows.h) has them.
struct KernelTableCell {
    std::string op, launch;
    std::int64_t hidden = 0, rows = 0;
    std::string config, trigger, prefetch;
    std::int64_t blocksPerSm = 0;

    bool operator==(const KernelTableCell&) const = default;
};

/// Where the table of a GPU model lies.
std::filesystem::path kernelTablePath(const std::string& gpu);

/// Cells of the file, none where there is no file. Errors: badInput (torn, another schema), naming the file.
Result<std::vector<KernelTableCell>> readKernelTable(const std::filesystem::path& file);

/// Puts `cells` into the file, over those of the same shape and beside the others; whole or not at all. Errors: environment.
Result<void> writeKernelTable(const std::filesystem::path& file, const std::string& gpu, const std::vector<KernelTableCell>& cells);

/// Puts the GPU's file in force on the device (which must be active) and says in words what is, for a run's environment: "built-in",
/// "84 cells tuned here", or why the file is left out. Empty on a CPU. Cells whose configuration this version does not have are left out.
std::string useKernelTable(const Device& device);

}  // namespace kernelscope
