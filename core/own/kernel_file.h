#pragma once
// A file that somebody points the engine at and calls a kernel: what it is, and what its variant is called.

#include <filesystem>
#include <string>

#include "core/records/result.h"

namespace kernelscope {

enum class KernelFileKind {
    library,  ///< a shared library with functions of the C ABI
    host,     ///< C++ source for the system's compiler
    cuda,     ///< CUDA source for NVRTC
};

struct KernelFile {
    std::filesystem::path path;  ///< absolute
    KernelFileKind kind = KernelFileKind::library;
    std::string variant;   ///< the file's name without its extension
    std::string contents;  ///< as read once; what is compiled and loaded is this
    std::string version;   ///< contentVersion of them
};

/// Errors: badInput (absent, no regular file, unreadable); usage (an extension we know nothing of, a name no variant can have).
Result<KernelFile> readKernelFile(const std::string& path);

/// What stands before a file's kernel in messages: "my_norm.cu".
std::string nameOf(const KernelFile& file);

/// Where compiled kernels are kept: $KERNELSCOPE_KERNEL_CACHE, else the user's cache folder. Made when missing. Errors: environment.
Result<std::filesystem::path> kernelCacheFolder();

/// Writes a file in one step, so that another engine never sees half of it. Errors: environment.
Result<void> writeCacheFile(const std::filesystem::path& file, std::string_view contents);

}  // namespace kernelscope
