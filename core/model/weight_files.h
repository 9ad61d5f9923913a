#pragma once
// Which files of a checkpoint folder hold its weights.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct WeightFiles {
    std::map<std::string, std::string> shardOf;  ///< tensor -> file name; empty for a single file
    std::vector<std::string> files;              ///< plain names, sorted
};

/// model.safetensors where there is one, else the shards of model.safetensors.index.json.
/// Errors: badInput: neither is there, the index is damaged, a shard's name has a path in it.
Result<WeightFiles> findWeightFiles(const std::filesystem::path& folder);

/// Reads model.safetensors.index.json. Errors: badInput.
Result<WeightFiles> parseWeightIndex(std::string_view text);

}  // namespace kernelscope
