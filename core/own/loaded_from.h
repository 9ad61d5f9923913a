#pragma once
// Where a library that was opened at run time lies. One implementation a platform (loaded_from_posix.cpp).

#include <filesystem>
#include <string>

namespace kernelscope {

/// The file that holds `symbol`; empty when nobody knows.
std::filesystem::path fileOfSymbol(void* symbol);

/// The folder of a library this process has loaded, by the beginning of its file's name ("libcudart.so"); empty when there is none.
std::filesystem::path folderOfLoaded(const std::string& name);

}  // namespace kernelscope
