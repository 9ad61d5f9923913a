#pragma once
// Data files that ship with the programs.

#include <filesystem>
#include <string>

#include "core/records/result.h"

namespace kernelscope {

/// The path of a resource ("tokenizer/qwen2.5"), from the first place that has it: $KERNELSCOPE_RESOURCES,
/// ../share/kernelscope and resources beside the running program, the source tree of a development build.
/// Errors: environment, with the places looked at.
Result<std::filesystem::path> findResource(const std::filesystem::path& relative);

}  // namespace kernelscope
