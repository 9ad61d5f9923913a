#pragma once
// Where a library that was opened at run time lies. One implementation a platform (loaded_from_posix.cpp).

#include <filesystem>

namespace kernelscope {

/// The file that holds `symbol`; empty when nobody knows.
std::filesystem::path fileOfSymbol(void* symbol);

}  // namespace kernelscope
