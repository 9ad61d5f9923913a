#pragma once
// Runs another program to its end. One implementation a platform (program_posix.cpp).

#include <string>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct ProgramEnd {
    int code = 0;        ///< exit code; 128 + signal where one killed it
    std::string output;  ///< both streams together, at most the first megabyte
};

/// argv[0] is searched in PATH; no shell; standard input is empty. Errors: environment, when it cannot be started.
Result<ProgramEnd> runToEnd(const std::vector<std::string>& argv);

}  // namespace kernelscope
