#pragma once
// The driver's tracing library (CUPTI), opened at run time: only to say why it records nothing. Nothing depends on it.

#include <functional>
#include <optional>
#include <string>

namespace kernelscope {

/// Finds a function of CUPTI by its name; null where the library is not there. Tests bring one that fails.
using CuptiLoader = std::function<void*(const char* symbol)>;

/// The library that libtorch was built against, or its predecessor.
CuptiLoader systemCupti();

struct CuptiProblem {
    std::string cause;  ///< "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the driver lets only administrators trace"
    std::string fix;    ///< what to do about it, or that nothing can be done
};

/// Switches the recording of kernels on and off again and says what CUPTI answers; empty when it has nothing against it. Where a tool in this
/// process records already, ask only after it has failed.
std::optional<CuptiProblem> cuptiProblem(const CuptiLoader& loader);

}  // namespace kernelscope
