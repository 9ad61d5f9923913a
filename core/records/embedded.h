#pragma once
// Texts that stand inside the programs (cmake/embed.cmake puts them there).

#include <span>
#include <string_view>

namespace kernelscope::embedded {

struct File {
    std::string_view name, text;
};

std::span<const File> kernelHeaders();    ///< kernels.h; in the engine
std::span<const File> kernelTemplates();  ///< OPERATOR.cu and OPERATOR.cpp; in the client
std::span<const File> kernelExports();    ///< what goes beside an exported kernel; in the client

}  // namespace kernelscope::embedded
