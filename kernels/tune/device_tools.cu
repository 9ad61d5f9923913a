#include "kernels/tune/device_tools.cuh"

namespace kernelscope::tune {
namespace {

__device__ uint32_t mixed(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

/// Exponents from a quarter to just under two, random sign and mantissa.
__global__ void fill_kernel(uint16_t* to, size_t count, int mantissaBits, int bias, uint32_t seed) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint32_t random = mixed(static_cast<uint32_t>(i) * 0x9e3779b9u + seed);
        const uint32_t exponent = static_cast<uint32_t>(bias - 2) + random % 3;
        const uint32_t mantissa = (random >> 8) & ((1u << mantissaBits) - 1);
        to[i] = static_cast<uint16_t>((random >> 31 << 15) | (exponent << mantissaBits) | mantissa);
    }
}

__global__ void fill_float_kernel(float* to, size_t count, uint32_t seed) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = static_cast<float>(static_cast<int>(mixed(static_cast<uint32_t>(i) + seed) >> 8) - (1 << 23)) * 2.4e-7f;
}

__global__ void table_kernel(float* cos, float* sin, int headDim) {
    const int half = headDim / 2;
    for (int i = static_cast<int>(threadIdx.x); i < half; i += static_cast<int>(blockDim.x)) {
        const double angle = blockIdx.x * pow(1e6, -2.0 * i / headDim);
        const size_t at = static_cast<size_t>(blockIdx.x) * headDim + i;
        cos[at] = cos[at + half] = static_cast<float>(::cos(angle));
        sin[at] = sin[at + half] = static_cast<float>(::sin(angle));
    }
}

__global__ void position_kernel(int64_t* positions, int64_t count, int64_t first) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) positions[i] = first + i;
}

__global__ void read_kernel(const uint4* from, size_t count, uint32_t* sink) {
    uint32_t total = 0;
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const uint4 v = from[i];
        total += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (total == 0x12345678u) *sink = total;  // keeps the loads alive; hardly ever writes
}

}  // namespace

void fillRandom(void* to, size_t bytes, int dtype, uint32_t seed, cudaStream_t stream) {
    if (dtype == 0)
        fill_float_kernel<<<1024, 256, 0, stream>>>(static_cast<float*>(to), bytes / 4, seed);
    else
        fill_kernel<<<1024, 256, 0, stream>>>(static_cast<uint16_t*>(to), bytes / 2, dtype == 1 ? 10 : 7, dtype == 1 ? 15 : 127, seed);
    require(cudaGetLastError(), "fill_kernel");
}

void fillTables(float* cos, float* sin, int positions, int headDim, cudaStream_t stream) {
    table_kernel<<<positions, 64, 0, stream>>>(cos, sin, headDim);
    require(cudaGetLastError(), "table_kernel");
}

void fillPositions(int64_t* positions, int64_t count, int64_t first, cudaStream_t stream) {
    position_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(positions, count, first);
    require(cudaGetLastError(), "position_kernel");
}

void readAll(const void* from, size_t bytes, void* sink, cudaStream_t stream) {
    read_kernel<<<132 * 16, 512, 0, stream>>>(static_cast<const uint4*>(from), bytes / 16, static_cast<uint32_t*>(sink));
    require(cudaGetLastError(), "read_kernel");
}

}  // namespace kernelscope::tune
