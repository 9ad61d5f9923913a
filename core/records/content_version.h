#pragma once
// A file's contents as a short word: the version of a kernel that is being worked on.

#include <string>
#include <string_view>

namespace kernelscope {

/// 16 hexadecimal digits (FNV-1a, 64 bits). Equal contents have equal versions; no defence against anybody who means harm.
std::string contentVersion(std::string_view contents);

}  // namespace kernelscope
