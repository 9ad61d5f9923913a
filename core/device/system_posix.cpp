#include "core/device/system.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/records/user_folders.h"

namespace kernelscope::system {
namespace {

/// The text after `key` and a separator on the first line that begins with it; empty when there is none.
std::string fieldOf(const char* file, const std::string& key, char separator) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const auto at = line.find(separator);
        if (at == std::string::npos) continue;
        const auto begin = line.find_first_not_of(" \t\"", at + 1);
        if (begin == std::string::npos) return {};
        return line.substr(begin, line.find_last_not_of(" \t\"") + 1 - begin);
    }
    return {};
}

std::int64_t kibibytes(const char* file, const std::string& key) {
    std::istringstream text(fieldOf(file, key, ':'));
    std::int64_t number = 0;
    text >> number;
    return number * 1024;
}

std::int64_t cgroupLimit() {
    std::ifstream in("/sys/fs/cgroup/memory.max");
    std::int64_t limit = 0;
    return in >> limit ? limit : 0;  // "max" does not parse: no limit
}

}  // namespace

std::string cpuName() {
    std::string name = fieldOf("/proc/cpuinfo", "model name", ':');
    if (!name.empty()) return name;
    utsname info{};
    return uname(&info) == 0 ? info.machine : "unknown CPU";
}

std::string osName() {
    std::string name = fieldOf("/etc/os-release", "PRETTY_NAME", '=');
    utsname info{};
    if (uname(&info) == 0) name += (name.empty() ? "" : ", ") + std::string(info.sysname) + " " + info.release;
    return name;
}

std::int64_t memoryBytes() {
    const std::int64_t machine = kibibytes("/proc/meminfo", "MemTotal");
    const std::int64_t limit = cgroupLimit();
    return limit > 0 ? std::min(limit, machine) : machine;
}

std::int64_t availableMemoryBytes() { return std::min(kibibytes("/proc/meminfo", "MemAvailable"), memoryBytes()); }

std::int64_t peakResidentBytes() { return kibibytes("/proc/self/status", "VmHWM"); }
void resetPeakResident() {
    std::ofstream control("/proc/self/clear_refs");
    control << '5';
}

std::filesystem::path dataFolder() {
    return userDataFolder() / "kernelscope";
}

void setEnvironmentDefault(const char* name, const char* value) { setenv(name, value, /*overwrite=*/0); }

void* openLibrary(const char* name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* symbol(void* library, const char* name) { return library ? dlsym(library, name) : nullptr; }

}  // namespace kernelscope::system
