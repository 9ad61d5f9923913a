#pragma once
// A proven kernel as a small folder: its source, the C header, a PyTorch binding, and the report that proves it.

#include <filesystem>
#include <string>
#include <vector>

#include "core/client/store.h"
#include "core/records/kernel_sources.h"
#include "core/records/result.h"

namespace kernelscope {

struct KernelProof {
    std::filesystem::path file;  ///< absolute
    std::string contents;
    std::vector<KernelPart> parts;  ///< what it includes from beside it, its side file
    std::string version;
    std::string variant;
    std::string runId;           ///< the newest finished validate run of these very contents
    std::vector<std::string> operators;
    bool needsLauncher = false;  ///< CUDA source: the engine writes its launch (kernel.launcher) into `launcher`
    bool needsOptions = false;   ///< it may ask something of its compiler: `options` of kernel.launcher
    std::string launcher;
    std::vector<std::string> options;
};

/// Errors: badInput (no such file; these contents were never validated to the end), wrong (they were, and failed), usage (its name makes no Python
/// module; it includes what lies outside its folder).
Result<KernelProof> findProof(const Store& store, const std::filesystem::path& file);

/// Writes the folder and returns the names of its files. Errors: environment; usage where the folder holds other things already.
Result<std::vector<std::string>> exportKernel(const Store& store, const KernelProof& proof, const std::filesystem::path& folder);

}  // namespace kernelscope
