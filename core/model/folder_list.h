#pragma once
// The folders of the engine's machine, for somebody who looks for a model from another one.

#include <string>

#include <nlohmann/json.hpp>

#include "core/records/result.h"

namespace kernelscope {

/// Folders inside `path` (empty: the user's home). Names alone are read, no file is opened.
/// Keys: path (absolute), parent (empty at the root), model (does it hold a config.json and weights?), folders [{name, model}] by name,
/// hidden ones last, left_out (how many more there are than are listed).
/// Errors: badInput (absent, no folder, no permission).
Result<nlohmann::json> listFolders(const std::string& path);

}  // namespace kernelscope
