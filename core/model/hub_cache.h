#pragma once
// The local hub cache: models--ORG--NAME/refs/main names a commit, snapshots/<commit>/ holds links into blobs/.
// Other programs fill it and share it, core/hub does so too; nothing here writes.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

/// $HF_HUB_CACHE, else $HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub.
std::filesystem::path hubCacheFolder();

/// NAME or ORG/NAME of letters, digits, '.', '_' and '-'.
bool isHubId(const std::string& text);

/// The folder a hub id has in a cache: "models--Qwen--Qwen2.5-0.5B".
std::string hubFolderName(const std::string& id);

/// The snapshot of the main branch; of the only snapshot where no branch is recorded. Empty when the model is not there.
/// Errors: badInput for a broken cache entry (no snapshot for the branch, a reference that is no plain name).
Result<std::optional<std::filesystem::path>> findInHubCache(const std::string& id);

struct CachedModel {
    std::string id;
    std::filesystem::path folder;  ///< the snapshot that the id leads to; empty where it leads nowhere
    std::int64_t bytes = 0;        ///< of the snapshot's files
    std::string problem;           ///< why it cannot be run here; empty when it can
};

/// Every model of the cache, by id. A cache that is not there holds none.
std::vector<CachedModel> listHubCache();

}  // namespace kernelscope
