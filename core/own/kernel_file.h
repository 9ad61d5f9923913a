#pragma once
// A file that somebody points the engine at and calls a kernel: what it is, and what its variant is called.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/kernel_sources.h"
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
    std::vector<KernelPart> parts;  ///< what it includes from beside it, its side file
    std::string version;   ///< kernelVersion of all that
};

/// Errors: badInput (absent, no regular file, unreadable); usage (an extension we know nothing of, a name no variant can have).
Result<KernelFile> readKernelFile(const std::string& path);

/// What stands before a file's kernel in messages: "my_norm.cu".
std::string nameOf(const KernelFile& file);

/// Where compiled kernels are kept: $KERNELSCOPE_KERNEL_CACHE, else the user's cache folder. Made when missing. Errors: environment.
Result<std::filesystem::path> kernelCacheFolder();

/// What a file that does not compile comes to: badInput with its first errors, clickable as file:line. A log that is longer than people read is kept
/// whole in the cache, and the message says where. `log` is the compiler's own.
Error doesNotCompile(const std::string& name, const std::string& variant, std::string_view log);

/// Writes a file in one step, so that another engine never sees half of it. Errors: environment.
Result<void> writeCacheFile(const std::filesystem::path& file, std::string_view contents);

}  // namespace kernelscope
