#pragma once
// Small text files and paths in words. Every failure says which file, why, and what to do.

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/records/result.h"

namespace kernelscope {

/// UTF-8, for messages and JSON.
std::string toUtf8(const std::filesystem::path& path);

/// The path of a UTF-8 text, on every platform.
std::filesystem::path fromUtf8(const std::string& text);

/// Its size when it is a regular file (links are followed). Errors: badInput: absent, a link into nowhere, not a file (a
/// pipe would block), nothing that may be looked at.
Result<std::uintmax_t> regularFileSize(const std::filesystem::path& path);

/// The whole of a regular file . Errors: those of regularFileSize, no permission, larger than `limit` bytes.
Result<std::string> readTextFile(const std::filesystem::path& path, std::uintmax_t limit = 64U << 20U);

}  // namespace kernelscope
