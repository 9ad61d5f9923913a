#pragma once
// Kernels that measure what a device can do at best: nothing at all, and reading memory cleanly.

#include <cstddef>

#include <cuda_runtime_api.h>

namespace kernelscope::cuda {

/// A kernel of one block that does nothing; `programmatic`: it may start before its predecessor has ended, waits for it, and lets
/// its successor start at once (needs compute capability 9.0).
cudaError_t launchEmpty(cudaStream_t stream, bool programmatic);

/// Reads `bytes` of memory and writes nothing: afterwards L2 holds clean lines of it. `sink` is 4 bytes that are never written in
/// practice.
cudaError_t readAll(const void* memory, std::size_t bytes, void* sink, int multiprocessors, cudaStream_t stream);

}  // namespace kernelscope::cuda
