// A CUDA kernel of your own for rms_norm:  out = round(x * rsqrt(mean(x^2) + eps)) * weight
//
//   x, out   [rows, hidden]; rows lie x_row_stride and out_row_stride elements apart, elements within a row side by side
//   weight   [hidden]
//
// Right means: rounded where the model rounds. The normalised value is stored in the type before it is multiplied by
// the weight, and the product is rounded again; everything in between is float32. out may be x itself.
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
// kernelscope: operator = rms_norm
// kernelscope: kernel = rms_norm_kernel<T>
// kernelscope: block = 256
// kernelscope: grid = rows
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


// The sum of one value a thread over the block, in every thread.
__device__ float sumOfBlock(float value) {
    __shared__ float warps[32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = threadIdx.x % 32 < blockDim.x / 32 ? warps[threadIdx.x % 32] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

// One block a row: every thread sums squares of its elements, the block adds them up, every thread writes the elements it read.
template <class T>
__global__ void rms_norm_kernel(T* out, const T* x, const T* weight, long long rows, long long hidden, long long x_row_stride, long long out_row_stride, float eps) {
    const T* from = x + blockIdx.x * x_row_stride;
    T* to = out + blockIdx.x * out_row_stride;

    float squares = 0.0f;
    for (long long i = threadIdx.x; i < hidden; i += blockDim.x) squares += toFloat(from[i]) * toFloat(from[i]);
    const float scale = rsqrtf(sumOfBlock(squares) / static_cast<float>(hidden) + eps);

    for (long long i = threadIdx.x; i < hidden; i += blockDim.x) {
        const T normalised = fromFloat<T>(toFloat(from[i]) * scale);
        to[i] = fromFloat<T>(toFloat(normalised) * toFloat(weight[i]));
    }
}
