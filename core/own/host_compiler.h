#pragma once
// C++ source of a kernel to a shared library, with the system's compiler, once for every version of it.

#include <filesystem>
#include <string>

#include "core/own/kernel_file.h"

namespace kernelscope {

struct HostCompiled {
    std::filesystem::path library;
    std::string log;  ///< the compiler's warnings, file:line first; empty when it had none
};

/// $CXX, else c++, with -std=c++20 -O3 -march=native -ffp-contract=off, then $CXXFLAGS and the source's own options; the kernels' C header is
/// included already. The result lies in the cache under a name made of the preprocessed source, the compiler and the options. Errors: badInput with
/// the compiler's words (file:line) when it does not compile; environment when there is no compiler.
Result<HostCompiled> compileForHost(const KernelFile& file);

}  // namespace kernelscope
