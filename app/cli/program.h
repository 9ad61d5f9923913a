#pragma once
// The command line as a whole: parses it, runs one command, returns the exit code.

#include <string>
#include <vector>

namespace kernelscope::cli {

int runProgram(const std::vector<std::string>& arguments);

/// Words joined so that a POSIX shell splits them again: `a 'b c' ''`.
std::string quotedCommand(const std::vector<std::string>& words);

}  // namespace kernelscope::cli
