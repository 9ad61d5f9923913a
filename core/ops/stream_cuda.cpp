#include <c10/cuda/CUDAStream.h>

#include "core/ops/kernel_call.h"

namespace kernelscope {

void* currentStream(at::Device device) {
    return device.is_cuda() ? static_cast<void*>(c10::cuda::getCurrentCUDAStream(device.index()).stream()) : nullptr;
}

}  // namespace kernelscope
