#include "core/records/content_version.h"

#include <cstdint>

#include <fmt/format.h>

namespace kernelscope {

std::string contentVersion(std::string_view contents) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : contents) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return fmt::format("{:016x}", hash);
}

}  // namespace kernelscope
