// add_rms_norm in float32, hidden size 896, on two threads: ordinary stores against stores past the caches, and what a read of the result costs after it.
//     g++ -O3 -march=x86-64-v4 -fopenmp stores.cpp -o stores && ./stores
// "warm": the same buffers again. "cold": all four taken out of the caches before. Medians of 51.

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kHidden = 896;

double since(std::chrono::steady_clock::time_point begin) { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count(); }

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

void evict(const float* memory, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) _mm_clflush(reinterpret_cast<const char*>(memory) + at);
    _mm_mfence();
}

template <bool kPast>
void rows(const float* x, const float* residual, float* sum, float* out, const float* weight, long begin, long end) {
    alignas(64) float kept[kHidden];
    for (long row = begin; row < end; ++row) {
        const long first = row * kHidden;
        __m512 squares[4] = {};
        for (int k = 0; k < kHidden; k += 16) {
            const __m512 v = _mm512_add_ps(_mm512_loadu_ps(residual + first + k), _mm512_loadu_ps(x + first + k));
            squares[k / 16 % 4] = _mm512_fmadd_ps(v, v, squares[k / 16 % 4]);
            _mm512_store_ps(kept + k, v);
            kPast ? _mm512_stream_ps(sum + first + k, v) : _mm512_store_ps(sum + first + k, v);
        }
        const float mean = _mm512_reduce_add_ps(squares[0] + squares[1] + squares[2] + squares[3]) / kHidden;
        const __m512 scale = _mm512_set1_ps(1 / std::sqrt(mean + 1e-6f));
        for (int k = 0; k < kHidden; k += 16) {
            const __m512 v = _mm512_mul_ps(_mm512_mul_ps(_mm512_load_ps(kept + k), scale), _mm512_loadu_ps(weight + k));
            kPast ? _mm512_stream_ps(out + first + k, v) : _mm512_store_ps(out + first + k, v);
        }
    }
    if (kPast) _mm_sfence();
}

int main() {
    for (const long count : {128L, 512L, 2048L, 8192L}) {
        const size_t bytes = static_cast<size_t>(count) * kHidden * sizeof(float);
        float* buffers[5];
        for (float*& each : buffers) {
            each = static_cast<float*>(std::aligned_alloc(64, bytes));
            std::fill(each, each + count * kHidden, 1.5f);
        }
        const auto [x, residual, sum, out, weight] = std::to_array(buffers);
        std::printf("%ld rows\n", count);
        for (const bool cold : {false, true}) {
            for (const bool past : {false, true}) {
                std::vector<double> call, read;
                for (int repeat = 0; repeat < 51; ++repeat) {
                    if (cold)
                        for (int i = 0; i < 4; ++i) evict(buffers[i], bytes);
                    auto begin = std::chrono::steady_clock::now();
#pragma omp parallel for schedule(dynamic, 1)
                    for (int part = 0; part < 8; ++part)
                        (past ? rows<true> : rows<false>)(x, residual, sum, out, weight, count * part / 8, count * (part + 1) / 8);
                    call.push_back(since(begin));
                    begin = std::chrono::steady_clock::now();
                    float total = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : total)
                    for (int part = 0; part < 8; ++part) {
                        __m512 seen = _mm512_setzero_ps();
                        for (long at = count * kHidden * part / 8; at < count * kHidden * (part + 1) / 8; at += 16) seen = _mm512_add_ps(seen, _mm512_load_ps(out + at));
                        total += _mm512_reduce_add_ps(seen);
                    }
                    read.push_back(since(begin) + (total == 0 ? 1 : 0));
                }
                std::printf("  %-5s%-9s%8.0f us, then read%7.0f us, together%8.0f us\n", cold ? "cold" : "warm", past ? "past" : "ordinary", median(call), median(read),
                            median(call) + median(read));
            }
        }
        for (float* each : buffers) std::free(each);
    }
}
