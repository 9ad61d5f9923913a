#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/records/user_folders.h"

namespace kernelscope {

namespace fs = std::filesystem;

namespace {

fs::path absoluteFrom(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value == '/' ? fs::path(value) : fs::path();
}

/// What lies in a folder that others can write may be another's: a store, and what is worse, compiled kernels that would be loaded.
bool isOursAlone(const std::string& folder) {
    struct stat state {};
    return ::lstat(folder.c_str(), &state) == 0 && S_ISDIR(state.st_mode) && state.st_uid == ::geteuid() && (state.st_mode & 077) == 0;
}

fs::path privateTemporaryFolder() {
    std::error_code ignored;
    fs::path above = fs::temp_directory_path(ignored);
    if (above.empty()) above = "/tmp";
    const std::string folder = (above / ("kernelscope-" + std::to_string(::geteuid()))).string();
    ::mkdir(folder.c_str(), 0700);
    if (isOursAlone(folder)) return folder;
    static const std::string fresh = [&] {  // somebody sits on the name
        std::string name = folder + "-XXXXXX";
        return std::string(::mkdtemp(name.data()) ? name : "/nonexistent");
    }();
    return fresh;
}

fs::path below(const char* variable, const fs::path& usual) {
    if (fs::path chosen = absoluteFrom(variable); !chosen.empty()) return chosen;
    const fs::path home = homeFolder();
    return (home.empty() ? privateTemporaryFolder() : home) / usual;
}

}  // namespace

fs::path homeFolder() {
    if (fs::path home = absoluteFrom("HOME"); !home.empty()) return home;
    std::vector<char> buffer(16384);
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found && found->pw_dir && *found->pw_dir == '/') return found->pw_dir;
    return {};
}

fs::path userDataFolder() { return below("XDG_DATA_HOME", fs::path(".local") / "share"); }
fs::path userCacheFolder() { return below("XDG_CACHE_HOME", ".cache"); }

}  // namespace kernelscope
