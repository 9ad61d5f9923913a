#pragma once
// The CUDA compiler as a library, opened at run time: it ships with libtorch's wheel and with the CUDA Toolkit. Needs no GPU.

#include <string>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct NvrtcRequest {
    std::string source;
    std::string name;  ///< what the source is called in messages
    std::vector<std::string> functions;  ///< as the source names them: my_kernel<float>
    std::vector<std::string> options;
    std::vector<std::string> includeFolders;
    int computeCapability = 0;  ///< 90: sm_90
};

struct NvrtcResult {
    std::string cubin;
    std::vector<std::string> symbols;  ///< of the functions, in their order
    std::string log;                   ///< warnings
};

/// Empty when NVRTC can be used here, else why not, with the places looked at.
std::string nvrtcProblem();

/// Errors: environment (no NVRTC, no CUDA headers, a GPU it does not know); badInput with the compiler's words, file:line.
Result<NvrtcResult> compileWithNvrtc(const NvrtcRequest& request);

}  // namespace kernelscope
