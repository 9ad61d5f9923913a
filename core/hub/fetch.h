#pragma once
// A whole model from a hub into the cache that the hub's own tools use:
//   models--OWNER--NAME/blobs/DIGEST, snapshots/COMMIT/NAME -> ../../blobs/DIGEST, refs/REVISION

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/hub/blob.h"

namespace kernelscope {

struct FetchProgress {
    std::string phase;            ///< words for people
    std::int64_t bytes = 0;       ///< that are here and verified, or on their way
    std::int64_t totalBytes = 0;  ///< 0: not known yet
    std::optional<double> secondsLeft;
};

struct FetchedModel {
    std::filesystem::path folder;   ///< the snapshot: what --model takes
    std::string commit;
    std::int64_t files = 0;
    std::int64_t bytes = 0;         ///< of all files
    std::int64_t fetchedBytes = 0;  ///< that came over the net
};

struct FetchOptions {
    std::string id;                  ///< OWNER/NAME
    std::string revision = "main";
    FetchPatience patience;
    std::function<void(const FetchProgress&)> progress;
    /// Free bytes at a place; the file system's answer by default.
    std::function<std::uintmax_t(const std::filesystem::path&)> freeBytes;
};

/// OWNER/NAME, or NAME, as a hub writes them; a revision is a branch, a tag or a commit. Errors: usage.
Result<void> checkHubName(const std::string& id, const std::string& revision);

/// Nothing of it is seen by anybody before all of it is there and verified. Errors: as askHub and fetchBlob; environment:
/// no space (needed and free said), offline by HF_HUB_OFFLINE.
Result<FetchedModel> fetchModel(const HubPlace& place, const FetchOptions& options, const std::stop_token& stop);

}  // namespace kernelscope
