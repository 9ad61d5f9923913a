#pragma once
// A CUDA source: its header, NVRTC, the driver, and how it is launched.

#include <string>

#include <nlohmann/json.hpp>

#include "core/ops/operator.h"
#include "core/own/directives.h"
#include "core/own/kernel_file.h"
#include "core/own/nvrtc.h"

namespace kernelscope {

struct CudaKernel {
    std::string op;
    KernelLaunch launch;
    std::string log;  ///< the compiler's warnings
    nlohmann::json resources = nlohmann::json::array();
};

/// Compiles for the GPU `device` and loads it there. Its context is current. Errors: badInput (file:line), environment.
Result<CudaKernel> loadCudaKernel(const KernelFile& file, int device);

/// The compilation alone, for compute capability 10 * major + minor: needs no GPU.
struct CudaCompiled {
    CudaDirectives directives;
    NvrtcResult code;
};
Result<CudaCompiled> compileCudaKernel(const KernelFile& file, int computeCapability);

/// What a launch with these arguments is: or why not.
struct LaunchShape {
    std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::int64_t sharedBytes = 0;
    bool empty = false;  ///< no rows: there is nothing to do
};
/// Errors: usage, in words: a requirement that is not met, sizes that no launch can have.
Result<LaunchShape> launchShape(const CudaDirectives& directives, std::span<const KernelArgument> arguments, int dtype, std::int64_t multiprocessors);

}  // namespace kernelscope
