#pragma once
// Kernels that stand before ours in a stream and make life hard: they let the next kernel start at once and write what it reads much later.

#include <cuda_runtime_api.h>

#include <cstdint>

namespace kernelscope::test {

/// Copies `bytes` (a multiple of 4) from `from` to `to` after `delayCycles`. With `early` it triggers programmatic launch of its successor
/// as its first instruction and is itself launched with the attribute; else it never triggers.
cudaError_t lateCopy(void* to, const void* from, size_t bytes, int64_t delayCycles, bool early, cudaStream_t stream);

}  // namespace kernelscope::test
