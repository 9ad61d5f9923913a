#pragma once
// The most memory that this process has held, as Linux tells it.

#include <fstream>
#include <string>

namespace kernelscope {

/// Since the last forgetPeakMemory(), in MiB; 0 where the system does not tell.
inline double peakMemoryMiB() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    return 0;
}

/// False where the system cannot.
inline bool forgetPeakMemory() {
    std::ofstream clear("/proc/self/clear_refs");
    clear << "5";
    clear.flush();
    return clear.good();
}

}  // namespace kernelscope
