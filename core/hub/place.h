#pragma once
// Which hub, with which token, into which cache: the environment variables of the hub's own tools.

#include <filesystem>
#include <string>

namespace kernelscope {

struct HubPlace {
    std::string endpoint;         ///< HF_ENDPOINT, else the public hub; no slash at its end
    std::string token;            ///< HF_TOKEN, else what HF_TOKEN_PATH or the hub's own login left; may be empty
    std::filesystem::path cache;  ///< HF_HUB_CACHE, else below HF_HOME or the cache folder
    bool offline = false;         ///< HF_HUB_OFFLINE
};

HubPlace hubPlace();

}  // namespace kernelscope
