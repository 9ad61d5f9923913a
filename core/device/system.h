#pragma once
// The machine around the device. One implementation a platform (system_posix.cpp).

#include <cstdint>
#include <filesystem>
#include <string>

namespace kernelscope::system {

std::string cpuName();                 ///< "AMD EPYC 9654 96-Core Processor", or the architecture
std::string osName();                  ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
std::int64_t memoryBytes();            ///< of the machine or of the container, whichever is less
std::int64_t availableMemoryBytes();
std::int64_t peakResidentBytes();      ///< of this process
void resetPeakResident();              ///< from now on; where that is not allowed nothing happens

/// Where this user's data lie on the engine's machine ($XDG_DATA_HOME/kernelscope or its default).
std::filesystem::path dataFolder();

/// A handle to a shared library opened at run time; null when it is not there. Never closed: the process keeps it.
void* openLibrary(const char* name);
void* symbol(void* library, const char* name);

/// Sets an environment variable of this process where the user has not.
void setEnvironmentDefault(const char* name, const char* value);

}  // namespace kernelscope::system
