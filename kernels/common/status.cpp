#include "kernels/common/status.h"

#include "kernels/include/kernelscope/abi.h"
#include "kernels/include/kernelscope/kernels.h"

extern "C" int ks_abi_version(void) { return KS_ABI_VERSION; }

extern "C" const char* ks_status_string(int status) {
    switch (status) {
        case KS_OK: return "done";
        case KS_ERROR_NULL_POINTER: return "a pointer is null though there is work to do";
        case KS_ERROR_SIZE: return "a size is negative or too large, or the head size is odd";
        case KS_ERROR_STRIDE: return "a row stride is negative, or rows of an output overlap each other";
        case KS_ERROR_DTYPE: return "unknown dtype code: 0 is float32, 1 float16, 2 bfloat16";
        case KS_ERROR_ALIGNMENT: return "a pointer is not aligned to its element size";
        case KS_ERROR_OVERLAP: return "an output partly overlaps an input or another output: use separate buffers, or exactly the same one";
        case KS_ERROR_NO_CUDA: return "this library was built without CUDA";
        case KS_ERROR_CONFIG: return "the launch options name a configuration that does not exist or does not fit the shape";
        default: break;
    }
    if (status >= KS_ERROR_CUDA) return kernelscope::kernels::cudaErrorText(status - KS_ERROR_CUDA);
    return "unknown status";
}
