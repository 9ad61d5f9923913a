// The parts of the CUDA backend that belong to no operator.

#include <cuda_runtime_api.h>

#include "kernels/common/backend.h"
#include "kernels/common/builtin_cuda.h"
#include "kernels/common/status.h"
#include "kernels/cuda/configs.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tables.h"

namespace kernelscope::kernels {

const char* cudaErrorText(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

namespace {

const ks_launch_options kPlain = {sizeof(ks_launch_options), KS_FLAG_PLAIN_LAUNCH, -1, 0, 0, 0, nullptr};

int plainRmsNorm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t xStride, int64_t outStride,
                 float eps, int dtype, void* stream) {
    return ks_rms_norm_ex(out, x, weight, rows, hidden, xStride, outStride, eps, dtype, stream, &kPlain);
}

int plainAddRmsNorm(void* out, void* residualOut, const void* x, const void* residual, const void* weight, int64_t rows, int64_t hidden,
                    int64_t xStride, int64_t residualStride, int64_t outStride, int64_t residualOutStride, float eps, int dtype,
                    void* stream) {
    return ks_add_rms_norm_ex(out, residualOut, x, residual, weight, rows, hidden, xStride, residualStride, outStride,
                              residualOutStride, eps, dtype, stream, &kPlain);
}

int plainSiluMul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gateStride, int64_t upStride,
                 int64_t outStride, int dtype, void* stream) {
    return ks_silu_mul_ex(out, gate, up, rows, width, gateStride, upStride, outStride, dtype, stream, &kPlain);
}

int plainRope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t qHeads,
              int64_t kvHeads, int64_t headDim, int64_t qStride, int64_t kStride, int dtype, void* stream) {
    return ks_rope_ex(q, k, cos, sin, positions, tokens, qHeads, kvHeads, headDim, qStride, kStride, dtype, stream, &kPlain);
}

}  // namespace

void appendCudaKernels(std::vector<KernelEntry>& entries) {
    const auto cuda = KernelDevice::cuda;
    entries.push_back({cuda, "rms_norm", "fused", "one kernel, programmatic launch", &ks_rms_norm});
    entries.push_back({cuda, "rms_norm", "fused_plain", "one kernel, plain launch", &plainRmsNorm});
    entries.push_back({cuda, "add_rms_norm", "fused", "residual add and norm, programmatic launch", &ks_add_rms_norm});
    entries.push_back({cuda, "add_rms_norm", "fused_plain", "residual add and norm, plain launch", &plainAddRmsNorm});
    entries.push_back({cuda, "silu_mul", "fused", "one kernel, programmatic launch", &ks_silu_mul});
    entries.push_back({cuda, "silu_mul", "fused_plain", "one kernel, plain launch", &plainSiluMul});
    entries.push_back({cuda, "rope", "fused", "q and k in one kernel, programmatic launch", &ks_rope});
    entries.push_back({cuda, "rope", "fused_plain", "q and k in one kernel, plain launch", &plainRope});
}

namespace cuda {
namespace {

ConfigList configsOf(int op) {
    switch (op) {
        case KS_RMS_NORM: return rmsNormConfigs();
        case KS_ADD_RMS_NORM: return addRmsNormConfigs();
        case KS_SILU_MUL: return siluMulConfigs();
        case KS_ROPE: return ropeConfigs();
        default: return {};
    }
}

}  // namespace

int configCount(int op) { return static_cast<int>(configsOf(op).names.size()); }

const char* configName(int op, int config) {
    const ConfigList list = configsOf(op);
    return config >= 0 && config < static_cast<int>(list.names.size()) ? list.names[static_cast<size_t>(config)].data() : nullptr;
}

int choose(int op, int64_t rows, int64_t hidden, int dtype, ks_launch_options& options) {
    const ConfigList list = configsOf(op);
    if (list.programmatic == nullptr) return KS_ERROR_CONFIG;
    Device device;
    if (const int status = currentDevice(device); status != KS_OK) return status;
    options.config = -1;
    const bool norm = op == KS_RMS_NORM || op == KS_ADD_RMS_NORM;
    if (norm && (dtype == KS_FLOAT32 || !device.hasProgrammaticLaunch())) return KS_OK;
    const bool plain = (options.flags & KS_FLAG_PLAIN_LAUNCH) != 0 || !device.hasProgrammaticLaunch();
    const Choice* choice = choiceFor(op, plain ? *list.plain : *list.programmatic, device, plain, rows, hidden);
    if (choice == nullptr) return KS_OK;
    options.config = choice->config;
    options.trigger = choice->trigger;
    options.prefetch = choice->prefetch;
    options.blocks_per_sm = choice->blocksPerSm;
    return KS_OK;
}

}  // namespace cuda
}  // namespace kernelscope::kernels
