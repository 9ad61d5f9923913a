#pragma once
// A kernel to start from: a commented source that already passes validation.

#include <filesystem>
#include <string>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

/// The operators there are templates for.
std::vector<std::string> templateOperators();

/// The text for `op` and the kind that the file's extension names (.cu, .cpp), with the file's own name in its comments. Errors: usage (no such
/// operator, another extension).
Result<std::string> kernelTemplate(const std::string& op, const std::filesystem::path& file);

/// Writes it. Errors: usage when the file is there already; environment.
Result<void> writeKernelTemplate(const std::string& op, const std::filesystem::path& file);

}  // namespace kernelscope
