#pragma once
// A shared library of kernels with the C ABI: opened, and what it offers. One implementation a platform (library_posix.cpp).

#include <filesystem>
#include <memory>
#include <vector>

#include "core/own/kernel_file.h"
#include "kernelscope/builtin_kernels.h"

namespace kernelscope {

/// The library stays open as long as anybody holds `handle`. Names in the entries belong to it, too.
struct KernelLibrary {
    std::shared_ptr<void> handle;
    std::vector<KernelEntry> entries;
};

/// Opens `library`, which is what `file` was compiled to (or a copy of it), and looks for ks_cpu_OPERATOR and ks_OPERATOR. Host pointers
/// are what ks_OPERATOR takes, too, where the file is C++ source or the library holds no CUDA code. Errors: badInput, in words: no
/// library, of another processor, symbols it lacks, another version of the ABI, no kernel in it.
Result<KernelLibrary> openKernelLibrary(const std::filesystem::path& library, const KernelFile& file);

}  // namespace kernelscope
