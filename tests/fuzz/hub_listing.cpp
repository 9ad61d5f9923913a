// Any bytes as a hub's list of a model's files: refused in words, or names that stay in their folder, sizes and digests to verify by.

#include <cstdint>

#include "core/hub/listing.h"
#include "tests/fuzz/check.h"

using namespace kernelscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto listing = readListing({reinterpret_cast<const char*>(data), size}, "owner/model");
    if (!listing) {
        FUZZ_CHECK(listing.error().code == ErrorCode::badInput && !listing.error().message.empty() && !listing.error().advice.empty());
        return 0;
    }
    FUZZ_CHECK(listing->commit.size() == 40 && !listing->files.empty() && listing->bytes() >= 0);
    for (const HubFile& file : listing->files) {
        const std::string parts = "/" + file.name + "/";
        FUZZ_CHECK(parts.find("//") == std::string::npos && parts.find("/./") == std::string::npos && parts.find("/../") == std::string::npos);
        FUZZ_CHECK(file.name.find('\0') == std::string::npos && file.size >= 0 && (file.digest.size() == 40 || file.digest.size() == 64));
        (void)digestOf(file);
    }
    return 0;
}
