// The C functions: arguments into a struct, checks, then the backend.

#include "kernels/common/backend.h"
#include "kernels/common/check.h"

using namespace kernelscope::kernels;

namespace kernelscope::kernels {

int readOptions(const ks_launch_options* given, ks_launch_options& options) {
    options = KS_LAUNCH_OPTIONS_INIT;
    if (given == nullptr) return KS_OK;
    if (given->size != sizeof(ks_launch_options)) return KS_ERROR_CONFIG;
    options = *given;
    return KS_OK;
}

}  // namespace kernelscope::kernels

namespace {

NormArguments addNormArguments(void* out, void* residualOut, const void* x, const void* residual, const void* weight, int64_t rows,
                               int64_t hidden, int64_t xStride, int64_t residualStride, int64_t outStride,
                               int64_t residualOutStride, float eps, int dtype) {
    return {out, residualOut, x, residual, weight, rows, hidden, xStride, residualStride, outStride, residualOutStride, eps, dtype};
}

NormArguments normArguments(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t xStride,
                            int64_t outStride, float eps, int dtype) {
    return addNormArguments(out, nullptr, x, nullptr, weight, rows, hidden, xStride, 0, outStride, 0, eps, dtype);
}

RopeArguments ropeArguments(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens,
                            int64_t qHeads, int64_t kvHeads, int64_t headDim, int64_t qStride, int64_t kStride, int dtype) {
    return {q, k, static_cast<const float*>(cos), static_cast<const float*>(sin), positions, tokens, qHeads, kvHeads, headDim, qStride,
            kStride, dtype};
}

/// Checks, leaves early where there is nothing to do, runs.
template <class Arguments, class Run>
int guarded(const Arguments& arguments, int status, const ks_launch_options* given, Run run) {
    if (status != KS_OK) return status;
    ks_launch_options options;
    if (const int bad = readOptions(given, options); bad != KS_OK) return bad;
    return isEmpty(arguments) ? static_cast<int>(KS_OK) : run(options);
}

}  // namespace

extern "C" {

int ks_rms_norm_ex(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
    int64_t out_row_stride, float eps, int dtype, void* stream, const ks_launch_options* options) {
    const auto a = normArguments(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps, dtype);
    return guarded(a, check(a, false), options, [&](const ks_launch_options& options) { return cuda::rmsNorm(a, options, stream); });
}

int ks_rms_norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
    int64_t out_row_stride, float eps, int dtype, void* stream) {
    return ks_rms_norm_ex(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps, dtype, stream, nullptr);
}

int ks_add_rms_norm_ex(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
    int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
    int64_t residual_out_row_stride, float eps, int dtype, void* stream, const ks_launch_options* options) {
    const auto a = addNormArguments(out, residual_out, x, residual, weight, rows, hidden, x_row_stride, residual_row_stride,
                                out_row_stride, residual_out_row_stride, eps, dtype);
    return guarded(a, check(a, true), options, [&](const ks_launch_options& options) { return cuda::addRmsNorm(a, options, stream); });
}

int ks_add_rms_norm(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
    int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
    int64_t residual_out_row_stride, float eps, int dtype, void* stream) {
    return ks_add_rms_norm_ex(out, residual_out, x, residual, weight, rows, hidden, x_row_stride, residual_row_stride,
                                out_row_stride, residual_out_row_stride, eps, dtype, stream, nullptr);
}

int ks_silu_mul_ex(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
    int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream, const ks_launch_options* options) {
    const auto a = SiluMulArguments{out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride, dtype};
    return guarded(a, check(a), options, [&](const ks_launch_options& options) { return cuda::siluMul(a, options, stream); });
}

int ks_silu_mul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
    int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream) {
    return ks_silu_mul_ex(out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride, dtype, stream, nullptr);
}

int ks_rope_ex(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
    int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream, const ks_launch_options* options) {
    const auto a = ropeArguments(q, k, cos, sin, positions, tokens, q_heads, kv_heads, head_dim, q_token_stride, k_token_stride, dtype);
    return guarded(a, check(a), options, [&](const ks_launch_options& options) { return cuda::rope(a, options, stream); });
}

int ks_rope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
    int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream) {
    return ks_rope_ex(q, k, cos, sin, positions, tokens, q_heads, kv_heads, head_dim, q_token_stride, k_token_stride,
                    dtype, stream, nullptr);
}

int ks_cpu_rms_norm_ex(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
    int64_t out_row_stride, float eps, int dtype, void* /*stream*/, const ks_launch_options* options) {
    const auto a = normArguments(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps, dtype);
    return guarded(a, check(a, false), options, [&](const ks_launch_options& options) { return cpu::rmsNorm(a, options); });
}

int ks_cpu_rms_norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
    int64_t out_row_stride, float eps, int dtype, void* stream) {
    return ks_cpu_rms_norm_ex(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps, dtype, stream, nullptr);
}

int ks_cpu_add_rms_norm_ex(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
    int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
    int64_t residual_out_row_stride, float eps, int dtype, void* /*stream*/, const ks_launch_options* options) {
    const auto a = addNormArguments(out, residual_out, x, residual, weight, rows, hidden, x_row_stride, residual_row_stride,
                                out_row_stride, residual_out_row_stride, eps, dtype);
    return guarded(a, check(a, true), options, [&](const ks_launch_options& options) { return cpu::addRmsNorm(a, options); });
}

int ks_cpu_add_rms_norm(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
    int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
    int64_t residual_out_row_stride, float eps, int dtype, void* stream) {
    return ks_cpu_add_rms_norm_ex(out, residual_out, x, residual, weight, rows, hidden, x_row_stride, residual_row_stride,
                                out_row_stride, residual_out_row_stride, eps, dtype, stream, nullptr);
}

int ks_cpu_silu_mul_ex(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
    int64_t up_row_stride, int64_t out_row_stride, int dtype, void* /*stream*/, const ks_launch_options* options) {
    const auto a = SiluMulArguments{out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride, dtype};
    return guarded(a, check(a), options, [&](const ks_launch_options& options) { return cpu::siluMul(a, options); });
}

int ks_cpu_silu_mul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
    int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream) {
    return ks_cpu_silu_mul_ex(out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride, dtype, stream, nullptr);
}

int ks_cpu_rope_ex(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
    int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* /*stream*/, const ks_launch_options* options) {
    const auto a = ropeArguments(q, k, cos, sin, positions, tokens, q_heads, kv_heads, head_dim, q_token_stride, k_token_stride, dtype);
    return guarded(a, check(a), options, [&](const ks_launch_options& options) { return cpu::rope(a, options); });
}

int ks_cpu_rope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
    int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream) {
    return ks_cpu_rope_ex(q, k, cos, sin, positions, tokens, q_heads, kv_heads, head_dim, q_token_stride, k_token_stride,
                    dtype, stream, nullptr);
}

int ks_config_count(int op) { return cuda::configCount(op); }

const char* ks_config_name(int op, int config) { return cuda::configName(op, config); }

int ks_choose(int op, int64_t rows, int64_t hidden, int dtype, ks_launch_options* options) {
    if (options == nullptr) return KS_ERROR_NULL_POINTER;
    if (options->size != sizeof(ks_launch_options)) return KS_ERROR_CONFIG;
    if (elementSize(dtype) == 0) return KS_ERROR_DTYPE;
    if (rows < 0 || hidden < 0) return KS_ERROR_SIZE;
    return cuda::choose(op, rows, hidden, dtype, *options);
}

int ks_use_table(const ks_table_entry* entries, int64_t count) {
    if (count < 0) return KS_ERROR_SIZE;
    if (entries == nullptr && count > 0) return KS_ERROR_NULL_POINTER;
    return cuda::useTable({entries, static_cast<size_t>(count)});
}

}  // extern "C"
