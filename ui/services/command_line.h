#pragma once

#include <string>

#include "core/records/protocol.h"

namespace kernelscope::ui {

/// The command line that repeats a job: `kernelscope-cli profile --model qwen2.5-0.5b --phase decode`. Words are quoted
/// for a POSIX shell where they need it.
std::string commandLine(const JobRequest& request);

}  // namespace kernelscope::ui
