/* Kernelscope's fused kernels as plain C functions: raw pointers, sizes, strides, a stream.
 *
 * Rules that hold for every function
 * - Strides and sizes count elements; the last dimension is contiguous. Strides of inputs may be 0 (a broadcast row); rows of outputs must
 *   not overlap each other.
 * - Nothing is allocated, nothing waits: a call checks its arguments, enqueues its work on `stream` and returns KS_OK, or returns an error
 *   code and has enqueued nothing. All calls may be captured in a CUDA graph. Zero rows are right and enqueue nothing.
 * - Each pointer must be aligned to its element. Rows that are aligned to 16 bytes are read and written in vectors, others are right too.
 * - An output may be exactly an input of the same shape and stride (in place), or lie between its rows. Other overlaps of an output are
 *   refused (KS_ERROR_OVERLAP), because a row could then be read after it was overwritten.
 * - On GPUs of compute capability 9.0 and above kernels use programmatic dependent launch: they may start while the kernel before them in
 *   the stream still runs, and wait for its end before they touch any memory that is not their own. KS_FLAG_PLAIN_LAUNCH turns that off.
 * - ks_cpu_* are the same operators on host pointers: the work is done when they return, and `stream` is ignored.
 *
 * Rounding is the native model's, step by step: a value that the unfused sequence stores in the type is rounded to it here too. Results
 * differ from the sequence only by the order in which a row's squares are added up.
 */
#ifndef KERNELSCOPE_KERNELS_H
#define KERNELSCOPE_KERNELS_H

#include <stdint.h>

#if defined(__GNUC__)
#define KS_API __attribute__((visibility("default")))
#else
#define KS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum ks_dtype { KS_FLOAT32 = 0, KS_FLOAT16 = 1, KS_BFLOAT16 = 2 };

enum ks_status {
    KS_OK = 0,
    KS_ERROR_NULL_POINTER = 1, /* a pointer is null though there is work */
    KS_ERROR_SIZE = 2,         /* a size is negative, or the head size is odd */
    KS_ERROR_STRIDE = 3,       /* a stride is negative, or rows of an output overlap each other */
    KS_ERROR_DTYPE = 4,        /* not one of ks_dtype */
    KS_ERROR_ALIGNMENT = 5,    /* a pointer is not aligned to its element */
    KS_ERROR_OVERLAP = 6,      /* an output partly overlaps an input or another output */
    KS_ERROR_NO_CUDA = 7,      /* the library was built without CUDA */
    KS_ERROR_CONFIG = 8,       /* the options name a configuration that does not exist or does not fit the shape */
    KS_ERROR_CUDA = 1000       /* KS_ERROR_CUDA + a cudaError_t: the driver refused the launch */
};

/* English text for any status a function here returned; never null. */
KS_API const char* ks_status_string(int status);

enum ks_operator { KS_RMS_NORM = 0, KS_ADD_RMS_NORM = 1, KS_SILU_MUL = 2, KS_ROPE = 3 };

enum ks_flag {
    KS_FLAG_PLAIN_LAUNCH = 1 /* start only when everything before in the stream has ended */
};

/* When a kernel lets its successor start (its memory becomes visible to it only at its end, whatever is chosen here). */
enum ks_trigger { KS_TRIGGER_TOP = 0, KS_TRIGGER_AFTER_WAIT = 1, KS_TRIGGER_AFTER_LOADS = 2, KS_TRIGGER_END = 3 };

/* What a kernel asks L2 to fetch before its predecessor has ended. */
enum ks_prefetch {
    KS_PREFETCH_WEIGHT = 0,
    KS_PREFETCH_FIRST_WAVE = 1,
    KS_PREFETCH_ALL = 2,
    KS_PREFETCH_TABLE = 3, /* rope: all, and the table's rows at the positions as they stand before the predecessor has ended */
    KS_PREFETCH_HALF_WAVE = 4 /* half of the first wave: near the size of L2 between the two, cold as well as warm */
};

/* Work shared out to threads of the caller's choosing, for the CPU functions: run() calls body(body_self, i) once for every i in
 * 0..count-1, from any threads, and returns when all are done. Lets a program that has a thread pool keep to that one. */
typedef struct ks_executor {
    void (*run)(void* self, int64_t count, void (*body)(void* body_self, int64_t index), void* body_self);
    void* self;
    int64_t threads; /* how many calls may run at once */
} ks_executor;

/* How to run, for the _ex functions. A null pointer means: as the plain function does. Initialise with KS_LAUNCH_OPTIONS_INIT. */
typedef struct ks_launch_options {
    uint32_t size;               /* sizeof(ks_launch_options) of the caller */
    uint32_t flags;              /* ks_flag, or-ed */
    int32_t config;              /* index of a kernel configuration (ks_config_name), or -1: by the built-in table */
    int32_t trigger;             /* ks_trigger; used only with config >= 0 */
    int32_t prefetch;            /* ks_prefetch; used only with config >= 0 */
    int32_t blocks_per_sm;       /* most blocks on one multiprocessor, 0: no limit; used only with config >= 0 */
    const ks_executor* executor; /* CPU only; null: the library's own threads */
} ks_launch_options;

#define KS_LAUNCH_OPTIONS_INIT {sizeof(ks_launch_options), 0, -1, 0, 0, 0, 0}

/* out[r] = round(x[r] * rsqrt(mean(x[r]^2) + eps)) * weight, the product rounded again. x, out: [rows, hidden]; weight: [hidden]. */
KS_API int ks_rms_norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
                       int64_t out_row_stride, float eps, int dtype, void* stream);
KS_API int ks_rms_norm_ex(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
                          int64_t out_row_stride, float eps, int dtype, void* stream, const ks_launch_options* options);

/* residual_out = round(x + residual); out = rms_norm of that stored sum. All four [rows, hidden]. */
KS_API int ks_add_rms_norm(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
                           int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
                           int64_t residual_out_row_stride, float eps, int dtype, void* stream);
KS_API int ks_add_rms_norm_ex(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
                              int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
                              int64_t residual_out_row_stride, float eps, int dtype, void* stream, const ks_launch_options* options);

/* out = round(gate / (1 + exp(-gate))) * up, the product rounded again. All [rows, width]. */
KS_API int ks_silu_mul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
                       int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream);
KS_API int ks_silu_mul_ex(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
                          int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream, const ks_launch_options* options);

/* Rotates q [tokens, q_heads, head_dim] and k [tokens, kv_heads, head_dim] in place, half-split: with c and s the table values rounded to
 * the type, low' = round(low * c) - round(high * s), high' = round(high * c) + round(low * s), each rounded. Heads of one token are
 * contiguous. cos, sin: float32 [max_position, head_dim], both halves equal; token t uses row positions[t], which must be a row of them. */
KS_API int ks_rope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
                   int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream);
KS_API int ks_rope_ex(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
                      int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream,
                      const ks_launch_options* options);

/* The same on the CPU: host pointers. */
KS_API int ks_cpu_rms_norm(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
                           int64_t out_row_stride, float eps, int dtype, void* stream);
KS_API int ks_cpu_rms_norm_ex(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t x_row_stride,
                              int64_t out_row_stride, float eps, int dtype, void* stream, const ks_launch_options* options);
KS_API int ks_cpu_add_rms_norm(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
                               int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
                               int64_t residual_out_row_stride, float eps, int dtype, void* stream);
KS_API int ks_cpu_add_rms_norm_ex(void* out, void* residual_out, const void* x, const void* residual, const void* weight, int64_t rows,
                                  int64_t hidden, int64_t x_row_stride, int64_t residual_row_stride, int64_t out_row_stride,
                                  int64_t residual_out_row_stride, float eps, int dtype, void* stream,
                                  const ks_launch_options* options);
KS_API int ks_cpu_silu_mul(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
                           int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream);
KS_API int ks_cpu_silu_mul_ex(void* out, const void* gate, const void* up, int64_t rows, int64_t width, int64_t gate_row_stride,
                              int64_t up_row_stride, int64_t out_row_stride, int dtype, void* stream,
                              const ks_launch_options* options);
KS_API int ks_cpu_rope(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
                       int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream);
KS_API int ks_cpu_rope_ex(void* q, void* k, const void* cos, const void* sin, const int64_t* positions, int64_t tokens, int64_t q_heads,
                          int64_t kv_heads, int64_t head_dim, int64_t q_token_stride, int64_t k_token_stride, int dtype, void* stream,
                          const ks_launch_options* options);

/* The CUDA kernel configurations of an operator (ks_operator): how many, and the name of one (null beyond the last). */
KS_API int ks_config_count(int op);
KS_API const char* ks_config_name(int op, int config);

/* What the built-in table picks on the current device for rows of `hidden` elements (rope: q_heads * head_dim) at 16-byte alignment:
 * fills config, trigger, prefetch and blocks_per_sm of `options` (config -1: a general kernel outside the list). */
KS_API int ks_choose(int op, int64_t rows, int64_t hidden, int dtype, ks_launch_options* options);

/* One cell of a dispatch table: at this shape of this operator, with programmatic launch or (plain != 0) without, run this configuration.
 * rows: 1, 8, 64, 512, 2048, 8192 or 32768; hidden: 896, 1536, 2048, 3584, 5120 or 8192, for silu_mul the widths 4864, 8960, 11008, 18944,
 * 13824 or 29568. Shapes between take the nearest cell. */
typedef struct ks_table_entry {
    int32_t op;
    int32_t plain;
    int64_t rows;
    int64_t hidden;
    int32_t config;
    int32_t trigger;
    int32_t prefetch;
    int32_t blocks_per_sm;
} ks_table_entry;

/* Puts these cells before the built-in table on the current device, for all threads, from the next call on; what was put there before is
 * forgotten. None (count 0): the built-in table alone. Nothing changes where an entry is wrong (KS_ERROR_CONFIG, KS_ERROR_SIZE). */
KS_API int ks_use_table(const ks_table_entry* entries, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
