// A CUDA kernel of your own for silu_mul:  out = round(gate / (1 + exp(-gate))) * up
//
//   gate, up, out   [rows, width], each with a row stride of its own; elements within a row side by side
//
// Right means: rounded where the model rounds. The activation is stored in the type before it is multiplied, and the
// product is rounded again. out may be gate itself.
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
// kernelscope: operator = silu_mul
// kernelscope: kernel = silu_mul_kernel<T>
// kernelscope: block = 256
// kernelscope: grid = min(ceil_div(width, block), 65535), min(rows, 65535)
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


// A thread an element; where a grid cannot be as large as that, it goes on to the next.
template <class T>
__global__ void silu_mul_kernel(T* out, const T* gate, const T* up, long long rows, long long width, long long gate_row_stride, long long up_row_stride, long long out_row_stride) {
    for (long long row = blockIdx.y; row < rows; row += gridDim.y) {
        for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < width; i += static_cast<long long>(gridDim.x) * blockDim.x) {
            const float x = toFloat(gate[row * gate_row_stride + i]);
            const T activated = fromFloat<T>(x / (1.0f + expf(-x)));
            out[row * out_row_stride + i] = fromFloat<T>(toFloat(activated) * toFloat(up[row * up_row_stride + i]));
        }
    }
}
