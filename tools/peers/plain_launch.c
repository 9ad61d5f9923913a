/* The same C functions without programmatic launch, for measuring that case with peers_bench.py:
 *     cc -O2 -shared -fPIC -I kernels/include tools/peers/plain_launch.c -o libks_plain.so -L BUILD/bin -lkernelscope_kernels
 *     LD_LIBRARY_PATH=BUILD/bin python3 tools/peers/peers_bench.py --lib ./libks_plain.so */

#include "kernelscope/kernels.h"

static const ks_launch_options kPlain = {sizeof(ks_launch_options), KS_FLAG_PLAIN_LAUNCH, -1, 0, 0, 0, 0};

KS_API int ks_rms_norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
                       int64_t out_row_stride, float eps, int dtype, void* stream) {
    return ks_rms_norm_ex(out, x, weight, rows, hidden, x_row_stride, out_row_stride, eps, dtype, stream, &kPlain);
}

KS_API int ks_add_rms_norm(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
                           int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
                           int64_t residual_out_row_stride, float eps, int dtype, void* stream) {
    return ks_add_rms_norm_ex(out, residual_out, x, residual, weight, rows, hidden, x_row_stride, residual_row_stride, out_row_stride,
                              residual_out_row_stride, eps, dtype, stream, &kPlain);
}

KS_API int ks_silu_mul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
                       int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream) {
    return ks_silu_mul_ex(out, gate, up, rows, width, gate_row_stride, up_row_stride, out_row_stride, dtype, stream, &kPlain);
}

KS_API int ks_rope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
                   int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream) {
    return ks_rope_ex(q, k, cos, sin, positions, tokens, q_heads, kv_heads, head_dim, q_token_stride, k_token_stride, dtype, stream,
                      &kPlain);
}
