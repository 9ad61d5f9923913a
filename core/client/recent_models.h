#pragma once
// The model folders that runs of a store used: what a list of models offers again.

#include <string>
#include <vector>

#include "core/client/store.h"

namespace kernelscope {

/// Newest first, at most `most`, each once, those that are still there.
std::vector<std::string> recentModelFolders(const Store& store, std::size_t most = 8);

/// The value of an option in a command line that was kept with a run; empty when it is not there.
std::string optionIn(const std::string& command, const std::string& option);

}  // namespace kernelscope
