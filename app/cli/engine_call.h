#pragma once
// One question to the engine, one answer: for commands that start no job.

#include "app/cli/command.h"

namespace kernelscope::cli {

/// Starts the engine, asks, waits. Ctrl+C ends it with the error `cancelled`.
Result<nlohmann::json> askEngine(const CommonOptions& common, const std::string& method, nlohmann::json params);

}  // namespace kernelscope::cli
