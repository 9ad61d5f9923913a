#include "core/hub/place.h"

#include <cstdlib>

#include "core/model/files.h"
#include "core/model/hub_cache.h"

namespace kernelscope {

namespace {

constexpr const char* kPublicHub = "https://huggingface.co";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string trimmed(std::string text) {
    const auto blank = " \t\r\n";
    text.erase(text.find_last_not_of(blank) + 1);
    return text.erase(0, std::min(text.find_first_not_of(blank), text.size()));
}

std::string tokenFromFile() {
    const std::string named = variable("HF_TOKEN_PATH");
    // The cache is HOME/hub, the token HOME/token, unless the cache alone was moved.
    const std::string home = variable("HF_HOME");
    const std::filesystem::path file = !named.empty() ? fromUtf8(named) : !home.empty() ? fromUtf8(home) / "token" : hubCacheFolder().parent_path() / "token";
    constexpr std::uintmax_t kLongest = 4096;
    const auto text = readTextFile(file, kLongest);
    return text ? trimmed(*text) : std::string();
}

}  // namespace

HubPlace hubPlace() {
    HubPlace place;
    place.endpoint = trimmed(variable("HF_ENDPOINT"));
    if (place.endpoint.empty()) place.endpoint = kPublicHub;
    while (place.endpoint.ends_with('/')) place.endpoint.pop_back();
    place.token = trimmed(variable("HF_TOKEN"));
    if (place.token.empty()) place.token = tokenFromFile();
    place.cache = hubCacheFolder();
    const std::string offline = variable("HF_HUB_OFFLINE");
    place.offline = offline == "1" || offline == "true" || offline == "TRUE" || offline == "ON" || offline == "YES";
    return place;
}

}  // namespace kernelscope
