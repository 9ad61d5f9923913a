// A CUDA kernel of your own for rope:  rotates q and k in place, half-split
//
//   q [tokens, q_heads, head_dim], k [tokens, kv_heads, head_dim]: tokens lie q_token_stride and k_token_stride elements apart, the heads of a token side by side
//   cos, sin   float32 [max_position, head_dim], both halves equal; token t uses their row positions[t]
//
// Right means: rounded where the model rounds. The table values are rounded to the type first; each product is
// rounded, then the sum:  low' = round(round(low * c) - round(high * s)),  high' = round(round(high * c) + round(low * s)).
//
//   kernelscope-cli validate --kernel THIS.cu           is it right, in every awkward case
//   kernelscope-cli sweep --kernel THIS.cu --watch      how fast, again at every save
//   kernelscope-cli e2e --kernel THIS.cu                what it buys in generate()
//
// The lines below say what this file is; it is compiled for the GPU at hand when it is needed. T stands for the element type: float, __half and
// __nv_bfloat16. The kernel takes the operator's parameters in this order. grid, block, shared and requires are expressions of the sizes and strides
// by name and of element_size, alignment (bytes that all rows are aligned to), multiprocessors and, in grid and shared, block.
// Without rows nothing is launched.
//
// kernelscope: operator = rope
// kernelscope: kernel = rope_kernel<T>
// kernelscope: block = 128
// kernelscope: grid = tokens
//
// More lines there can be, each without the two slashes before it:
//   // kernelscope: types = float16, bfloat16        serve these only; the others are then "refused"
//   // kernelscope: requires = hidden % 8 == 0       serve these shapes only
//   // kernelscope: shared = hidden * 4              bytes of dynamic shared memory
//   // kernelscope: devices = sm_80+                 or a list: sm_89, sm_90
//   // kernelscope: options = --use_fast_math        more options for NVRTC

template <class T>
__device__ float toFloat(T x) {
    return static_cast<float>(x);
}
// To the nearest, ties to even, in each type.
template <class T>
__device__ T fromFloat(float x);
template <>
__device__ float fromFloat<float>(float x) {
    return x;
}
template <>
__device__ __half fromFloat<__half>(float x) {
    return __float2half_rn(x);
}
template <>
__device__ __nv_bfloat16 fromFloat<__nv_bfloat16>(float x) {
    return __float2bfloat16_rn(x);
}


template <class T>
__device__ float rounded(float value) {
    return toFloat(fromFloat<T>(value));
}

// __fmul_rn and its like are never joined into one rounding, as a * b - c * d is.
template <class T>
__device__ void rotate(T* head, long long i, long long half, float c, float s) {
    const float low = toFloat(head[i]), high = toFloat(head[half + i]);
    head[i] = fromFloat<T>(__fsub_rn(rounded<T>(__fmul_rn(low, c)), rounded<T>(__fmul_rn(high, s))));
    head[half + i] = fromFloat<T>(__fadd_rn(rounded<T>(__fmul_rn(high, c)), rounded<T>(__fmul_rn(low, s))));
}

// One block a token, a thread a pair of elements.
template <class T>
__global__ void rope_kernel(T* q, T* k, const float* cos, const float* sin, const long long* positions, long long tokens, long long q_heads, long long kv_heads,
                            long long head_dim, long long q_token_stride, long long k_token_stride) {
    const long long token = blockIdx.x, half = head_dim / 2, table = positions[token] * head_dim;
    for (long long pair = threadIdx.x; pair < (q_heads + kv_heads) * half; pair += blockDim.x) {
        const long long head = pair / half, i = pair % half;
        const float c = rounded<T>(cos[table + i]), s = rounded<T>(sin[table + i]);
        if (head < q_heads) rotate(q + token * q_token_stride + head * head_dim, i, half, c, s);
        else rotate(k + token * k_token_stride + (head - q_heads) * head_dim, i, half, c, s);
    }
}
