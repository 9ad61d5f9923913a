#pragma once
// Our CPU kernels on the threads that torch's own operators run on: two pools on the same processors would wait for each other,
// since OpenMP's threads keep spinning for a while after a loop.

#include "kernelscope/builtin_kernels.h"

namespace kernelscope {

/// The same function on torchThreads() (where there are none: on the kernels' own), if it is one of our CPU kernels; any other as it is.
KernelFunction onTorchThreads(KernelFunction function);

}  // namespace kernelscope
