#pragma once
// Driver functions by name: the driver's library is not there on every machine that starts this program. CUDA builds only.

#include <cuda_runtime.h>

namespace kernelscope::cuda {

/// The driver's function, or nullptr where the driver has none of that name. `version` as in 12030: CUDA 12.3, when its signature came to be.
template <typename Function>
Function driverFunction(const char* name, unsigned version) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found) != cudaSuccess || found != cudaDriverEntryPointSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    return reinterpret_cast<Function>(entry);
}

}  // namespace kernelscope::cuda
