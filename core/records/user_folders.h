#pragma once
// Where a user's own files lie, for the engine as for its clients.

#include <filesystem>

namespace kernelscope {

/// $HOME where that is an absolute path, else what the system has on record for this user; empty when neither tells.
std::filesystem::path homeFolder();

/// $XDG_DATA_HOME or its default below the home folder; the XDG rules pass over values that are no absolute paths. For a user
/// without a home: a folder among the temporary files that nobody else may enter, made when it is asked for.
std::filesystem::path userDataFolder();
/// The same for $XDG_CACHE_HOME.
std::filesystem::path userCacheFolder();

}  // namespace kernelscope
