#pragma once
// What a hub says a model consists of.

#include <cstdint>
#include <string>
#include <vector>

#include "core/hub/digest.h"
#include "core/records/result.h"

namespace kernelscope {

struct HubFile {
    std::string name;       ///< within the model, with '/' between folders
    std::int64_t size = 0;  ///< bytes
    std::string digest;     ///< lower-case hexadecimal; also the name of its blob in the cache
    Digest::Kind kind = Digest::Kind::sha256;  ///< sha1: git's blob hash, as for small files
};

struct HubListing {
    std::string commit;  ///< the revision that the names stand for
    std::vector<HubFile> files;
    [[nodiscard]] std::int64_t bytes() const;
};

/// A digest of git's kind begins with the file's kind and size.
Digest digestOf(const HubFile& file);

/// Reads the answer to /api/models/ID/revision/REV?blobs=true and keeps what a program that reads safetensors needs. Errors:
/// badInput: no such answer, a name that leads out of its folder, a file without size or digest, no safetensors.
Result<HubListing> readListing(const std::string& text, const std::string& id);

}  // namespace kernelscope
