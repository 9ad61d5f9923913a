// The CPU kernels against the native sequence, written plainly in float and double here.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "kernels/cpu/store_policy.h"
#include "tests/kernels/test_data.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}

// The library's too: it looks this symbol up where it runs.
[[gnu::noinline]] void* operator new(size_t bytes) {
    ++g_allocations;
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace kernelscope::test {
namespace {

/// One norm row as the native sequence computes it, with the sum in double: rounding of the value, then of the product.
void nativeNorm(const Tensor& x, const Tensor& weight, double eps, Tensor& out) {
    for (int64_t row = 0; row < x.rows(); ++row) {
        double squares = 0;
        for (int64_t c = 0; c < x.width(); ++c) squares += x.value(row, c) * x.value(row, c);
        const auto scale = static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(x.width()) + eps));
        for (int64_t c = 0; c < x.width(); ++c) {
            const double normed = rounded(static_cast<float>(x.value(row, c)) * scale, x.dtype());
            out.setBits(row, c, encode(normed * weight.value(0, c), x.dtype()));
        }
    }
}

int norm(Tensor& out, const Tensor& x, const Tensor& weight, const ks_launch_options* options = nullptr) {
    return ks_cpu_rms_norm_ex(out.data(), x.data(), weight.data(), x.rows(), x.width(), x.stride(), out.stride(), 1e-6f, x.dtype(), nullptr,
                              options);
}

/// Steps of the type that a result may be off: the order of a sum shows in float32; in 16 bits hardly ever, but then one step of the
/// normalised value can be two after the product with a large weight.
int64_t allowedSteps(int dtype) { return dtype == KS_FLOAT32 ? 4 : 2; }
double allowedShare(int dtype) { return dtype == KS_FLOAT32 ? 1.0 : 0.002; }

void expectClose(const Tensor& found, const Tensor& wanted, const char* what) {
    const Difference d = compare(found, wanted);
    EXPECT_LE(d.worstSteps, allowedSteps(found.dtype())) << what;
    EXPECT_LE(d.share(), allowedShare(found.dtype())) << what;
    EXPECT_TRUE(found.guardsIntact()) << what << " wrote outside its rows";
}

using Shape = std::tuple<int, int64_t, int64_t, int64_t, int64_t>;  // dtype, rows, width, gap between rows, shift

std::string shapeName(const ::testing::TestParamInfo<Shape>& info) {
    const auto [dtype, rows, width, gap, shift] = info.param;
    return nameOf(dtype) + "_" + std::to_string(rows) + "x" + std::to_string(width) + "_gap" + std::to_string(gap) + "_shift" +
           std::to_string(shift);
}

class CpuShapes : public ::testing::TestWithParam<Shape> {
protected:
    [[nodiscard]] Tensor tensor(uint32_t seed, double scale = 1.0) const {
        const auto [dtype, rows, width, gap, shift] = GetParam();
        Tensor t(dtype, rows, width, width + gap, shift);
        t.fillRandom(seed, scale);
        return t;
    }
};

TEST_P(CpuShapes, RmsNormRoundsLikeTheNativeSequence) {
    const Tensor x = tensor(1);
    Tensor weight(x.dtype(), 1, x.width());
    weight.fillRandom(2);
    Tensor out = tensor(3), wanted = tensor(3);
    ASSERT_EQ(norm(out, x, weight), KS_OK);
    nativeNorm(x, weight, 1e-6, wanted);
    expectClose(out, wanted, "out");
}

TEST_P(CpuShapes, AddRmsNormNormsTheStoredSum) {
    const Tensor x = tensor(1), residual = tensor(2);
    Tensor weight(x.dtype(), 1, x.width());
    weight.fillRandom(3);
    Tensor out = tensor(4), total = tensor(5), wantedOut = tensor(4), wantedTotal = tensor(5);
    ASSERT_EQ(ks_cpu_add_rms_norm(out.data(), total.data(), x.data(), residual.data(), weight.data(), x.rows(), x.width(), x.stride(),
                                  residual.stride(), out.stride(), total.stride(), 1e-6f, x.dtype(), nullptr),
              KS_OK);
    for (int64_t row = 0; row < x.rows(); ++row)
        for (int64_t c = 0; c < x.width(); ++c)
            wantedTotal.setBits(row, c, encode(x.value(row, c) + residual.value(row, c), x.dtype()));
    nativeNorm(wantedTotal, weight, 1e-6, wantedOut);
    EXPECT_EQ(compare(total, wantedTotal).differing, 0) << "the stored sum is exact";
    EXPECT_TRUE(total.guardsIntact());
    expectClose(out, wantedOut, "out");
}

TEST_P(CpuShapes, SiluMulRoundsTheActivationFirst) {
    const Tensor gate = tensor(1, 4.0), up = tensor(2);
    Tensor out = tensor(3), wanted = tensor(3);
    ASSERT_EQ(ks_cpu_silu_mul(out.data(), gate.data(), up.data(), gate.rows(), gate.width(), gate.stride(), up.stride(), out.stride(),
                              gate.dtype(), nullptr),
              KS_OK);
    for (int64_t row = 0; row < gate.rows(); ++row)
        for (int64_t c = 0; c < gate.width(); ++c) {
            const double x = gate.value(row, c);
            wanted.setBits(row, c, encode(rounded(x / (1.0 + std::exp(-x)), gate.dtype()) * up.value(row, c), gate.dtype()));
        }
    expectClose(out, wanted, "out");
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuShapes,
                         ::testing::Combine(::testing::Values(KS_FLOAT32, KS_FLOAT16, KS_BFLOAT16), ::testing::Values(1, 33),
                                            ::testing::Values(1, 7, 769, 896), ::testing::Values(0, 30), ::testing::Values(0, 1)),
                         shapeName);

class CpuTypes : public ::testing::TestWithParam<int> {};

TEST_P(CpuTypes, RopeTurnsQAndKOfOnePackedRowInPlace) {
    const int dtype = GetParam();
    constexpr int64_t kTokens = 9, kQHeads = 7, kKvHeads = 1;
    for (const int64_t headDim : {2, 6, 64, 128}) {
        const int64_t qWidth = kQHeads * headDim, kWidth = kKvHeads * headDim;
        Tensor packed(dtype, kTokens, qWidth + kWidth, qWidth + 2 * kWidth);
        packed.fillRandom(4);
        Tensor wanted = packed;
        const RopeTables tables(kTokens + 20, headDim);
        std::vector<int64_t> positions;
        for (int64_t token = 0; token < kTokens; ++token) positions.push_back(3 + 2 * token);
        auto* q = static_cast<unsigned char*>(packed.data());
        ASSERT_EQ(ks_cpu_rope(q, q + static_cast<size_t>(qWidth) * bytesOf(dtype), tables.cos.data(), tables.sin.data(), positions.data(),
                              kTokens, kQHeads, kKvHeads, headDim, packed.stride(), packed.stride(), dtype, nullptr),
                  KS_OK);
        const int64_t half = headDim / 2;
        for (int64_t token = 0; token < kTokens; ++token)
            for (int64_t head = 0; head < kQHeads + kKvHeads; ++head)
                for (int64_t i = 0; i < half; ++i) {
                    const auto at = static_cast<size_t>(positions[static_cast<size_t>(token)] * headDim + i);
                    const double c = rounded(tables.cos[at], dtype), s = rounded(tables.sin[at], dtype);
                    const int64_t column = head * headDim + i;
                    const double low = wanted.value(token, column), high = wanted.value(token, column + half);
                    const auto r = [dtype](double v) { return rounded(v, dtype); };
                    wanted.setBits(token, column, encode(r(low * c) - r(high * s), dtype));
                    wanted.setBits(token, column + half, encode(r(high * c) + r(low * s), dtype));
                }
        EXPECT_EQ(compare(packed, wanted).differing, 0) << "head size " << headDim;
        EXPECT_TRUE(packed.guardsIntact());
    }
}

TEST_P(CpuTypes, ManyRowsInThreadsGiveWhatOneThreadGives) {
    const int dtype = GetParam();
    Tensor x(dtype, 600, 896), weight(dtype, 1, 896), threaded(dtype, 600, 896), alone(dtype, 600, 896);
    x.fillRandom(1);
    weight.fillRandom(2);
    const ks_executor one{[](void*, int64_t count, void (*body)(void*, int64_t), void* self) {
                              for (int64_t i = 0; i < count; ++i) body(self, i);
                          },
                          nullptr, 1};
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    options.executor = &one;
    for (int repeat = 0; repeat < 20; ++repeat) {
        threaded.fillRandom(7);
        ASSERT_EQ(norm(threaded, x, weight), KS_OK);
        ASSERT_EQ(norm(alone, x, weight, &options), KS_OK);
        ASSERT_EQ(compare(threaded, alone).differing, 0);
    }
}

TEST_P(CpuTypes, EverySumRoundsToTheNearestEven) {
    const int dtype = GetParam();
    if (dtype == KS_FLOAT32) GTEST_SKIP() << "nothing is rounded";
    Tensor x(dtype, 256, 256), residual(dtype, 256, 256), weight(dtype, 1, 256), out(dtype, 256, 256), total(dtype, 256, 256);
    weight.fillRandom(1);
    for (const double added : {0.0, 1.0, -1.00390625, 3.140625, 1e-3, -6e4, 5e-8}) {
        for (int64_t i = 0; i < 65536; ++i) {
            x.setBits(i / 256, i % 256, static_cast<uint32_t>(i));
            residual.setBits(i / 256, i % 256, encode(added, dtype));
        }
        ASSERT_EQ(ks_cpu_add_rms_norm(out.data(), total.data(), x.data(), residual.data(), weight.data(), 256, 256, 256, 256, 256, 256, 1e-6f, dtype,
                                      nullptr),
                  KS_OK);
        for (int64_t i = 0; i < 65536; ++i) {
            const double a = x.value(i / 256, i % 256), b = residual.value(i / 256, i % 256);
            const double sum = rounded(static_cast<float>(a) + static_cast<float>(b), dtype);
            const double found = total.value(i / 256, i % 256);
            ASSERT_TRUE(std::isnan(sum) ? std::isnan(found) : found == sum) << a << " + " << b << " gave " << found << ", not " << sum;
        }
    }
}

TEST_P(CpuTypes, ANanWithLowBitsStaysOne) {
    const int dtype = GetParam();
    for (const uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u}) {
        float nan = 0;
        std::memcpy(&nan, &bits, sizeof nan);
        Tensor x(dtype, 1, 64), weight(dtype, 1, 64), out(dtype, 1, 64), total(dtype, 1, 64);
        x.fillRandom(1);
        weight.fillRandom(2);
        ASSERT_EQ(ks_cpu_rms_norm(out.data(), x.data(), weight.data(), 1, 64, 64, 64, nan, dtype, nullptr), KS_OK);
        for (int64_t i = 0; i < 64; ++i) ASSERT_TRUE(std::isnan(out.value(0, i))) << "rms_norm, eps " << std::hex << bits;
        ASSERT_EQ(ks_cpu_add_rms_norm(out.data(), total.data(), x.data(), x.data(), weight.data(), 1, 64, 64, 64, 64, 64, nan, dtype, nullptr), KS_OK);
        for (int64_t i = 0; i < 64; ++i) ASSERT_TRUE(std::isnan(out.value(0, i))) << "add_rms_norm, eps " << std::hex << bits;
        RopeTables tables(1, 64);
        std::fill(tables.cos.begin(), tables.cos.end(), nan);
        const int64_t position = 0;
        Tensor q(dtype, 1, 64), k(dtype, 1, 64);
        q.fillRandom(3);
        k.fillRandom(4);
        ASSERT_EQ(ks_cpu_rope(q.data(), k.data(), tables.cos.data(), tables.sin.data(), &position, 1, 1, 1, 64, 64, 64, dtype, nullptr), KS_OK);
        for (int64_t i = 0; i < 64; ++i) ASSERT_TRUE(std::isnan(q.value(0, i)) && std::isnan(k.value(0, i))) << "rope, cos " << std::hex << bits;
    }
}

#if defined(__x86_64__)

void evict(const void* memory, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) _mm_clflush(static_cast<const char*>(memory) + at);
    _mm_mfence();
}

/// Large rows that begin where a vector may be stored past the caches.
Tensor alignedRows(int dtype, int64_t rows, int64_t width, int64_t gap) {
    for (int64_t shift = 0;; ++shift) {
        Tensor t(dtype, rows, width, width + gap, shift);
        if (reinterpret_cast<uintptr_t>(t.data()) % 64 == 0) return t;
    }
}

TEST_P(CpuTypes, ResultsOutsideTheCachesAreTheSame) {
    const int dtype = GetParam();
    {
        Tensor first(dtype, 600, 896), weight(dtype, 1, 896);  // starts the library's threads, which are its only allocation
        ASSERT_EQ(norm(first, first, weight), KS_OK);
    }
    constexpr int64_t kRows = 600, kWidth = 910;  // whole vectors, and some elements more
    for (const int64_t gap : {50, 51}) {           // every row aligned, and few
        const auto rows = [&](uint32_t seed) {
            Tensor t = alignedRows(dtype, kRows, kWidth, gap);
            t.fillRandom(seed);
            return t;
        };
        const Tensor x = rows(1), residual = rows(2);
        Tensor weight(dtype, 1, kWidth);
        weight.fillRandom(3);
        const int64_t stride = kWidth + gap;
        const auto run = [&](bool outside, auto call) {
            std::pair<Tensor, Tensor> results{rows(4), rows(5)};
            for (const Tensor* t : {&x, &std::as_const(results.first), &std::as_const(results.second)})
                if (outside) evict(t->bytes().data(), t->bytes().size());
            const int64_t before = g_allocations;
            const int status = call(results.first, results.second);
            EXPECT_EQ(g_allocations, before) << "kernels.h: nothing is allocated";
            EXPECT_EQ(status, KS_OK);
            EXPECT_TRUE(results.first.guardsIntact() && results.second.guardsIntact());
            return results;
        };
        const auto expectSame = [&](const char* what, auto call) {
            const auto inside = run(false, call), outside = run(true, call);
            EXPECT_EQ(compare(inside.first, outside.first).differing, 0) << what;
            EXPECT_EQ(compare(inside.second, outside.second).differing, 0) << what;
        };
        expectSame("rms_norm", [&](Tensor& out, Tensor&) { return norm(out, x, weight); });
        expectSame("add_rms_norm", [&](Tensor& out, Tensor& total) {
            return ks_cpu_add_rms_norm(out.data(), total.data(), x.data(), residual.data(), weight.data(), kRows, kWidth, stride, stride, stride, stride, 1e-6f,
                                       dtype, nullptr);
        });
        expectSame("silu_mul", [&](Tensor& out, Tensor&) {
            return ks_cpu_silu_mul(out.data(), x.data(), residual.data(), kRows, kWidth, stride, stride, stride, dtype, nullptr);
        });
    }
}

TEST(CpuStores, GoPastTheCachesOnlyWhereTheResultIsOutsideThem) {
    constexpr int64_t kRows = 512, kBytes = 1024;
    std::vector<char> memory(kRows * kBytes);
    // The clock may be interrupted, and another machine on the same caches may empty them: most of many tries count.
    int far = 0, near = 0;
    for (int i = 0; i < 41; ++i) {
        evict(memory.data(), memory.size());
        far += kernels::cpu::outsideCaches(memory.data(), kRows, kBytes, kBytes) ? 1 : 0;
        std::fill(memory.begin(), memory.end(), static_cast<char>(i));
        near += kernels::cpu::outsideCaches(memory.data(), kRows, kBytes, kBytes) ? 0 : 1;
    }
    EXPECT_GT(far, 20);
    EXPECT_GT(near, 20);
    evict(memory.data(), memory.size());
    EXPECT_FALSE(kernels::cpu::outsideCaches(memory.data(), 8, kBytes, kBytes)) << "too small to ask";
}

#endif

TEST_P(CpuTypes, TheCallersExecutorDoesTheWork) {
    const int dtype = GetParam();
    Tensor x(dtype, 600, 896), weight(dtype, 1, 896), out(dtype, 600, 896);
    x.fillRandom(1);
    weight.fillRandom(2);
    int64_t pieces = 0;
    const ks_executor counting{[](void* self, int64_t count, void (*body)(void*, int64_t), void* bodySelf) {
                                   *static_cast<int64_t*>(self) += count;
                                   for (int64_t i = count; i-- > 0;) body(bodySelf, i);
                               },
                               &pieces, 4};
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    options.executor = &counting;
    ASSERT_EQ(norm(out, x, weight, &options), KS_OK);
    EXPECT_GT(pieces, 1);
    Tensor wanted(dtype, 600, 896);
    ASSERT_EQ(norm(wanted, x, weight), KS_OK);
    EXPECT_EQ(compare(out, wanted).differing, 0);
}

TEST_P(CpuTypes, NormInPlaceIsRight) {
    const int dtype = GetParam();
    Tensor x(dtype, 5, 896), weight(dtype, 1, 896), wanted(dtype, 5, 896);
    x.fillRandom(1);
    weight.fillRandom(2);
    ASSERT_EQ(norm(wanted, x, weight), KS_OK);
    ASSERT_EQ(norm(x, x, weight), KS_OK);
    EXPECT_EQ(compare(x, wanted).differing, 0);
}

TEST_P(CpuTypes, SpecialValuesComeOutAsTheNativeSequenceGivesThem) {
    const int dtype = GetParam();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const std::vector<double> gates{0.0, -0.0, 100.0, -100.0, -20.0, 30000.0, -30000.0, kInf, -kInf, std::nan("")};
    const auto count = static_cast<int64_t>(gates.size());
    Tensor gate(dtype, 1, count), up(dtype, 1, count), out(dtype, 1, count);
    for (int64_t i = 0; i < count; ++i) {
        gate.setBits(0, i, encode(gates[static_cast<size_t>(i)], dtype));
        up.setBits(0, i, encode(1.0, dtype));
    }
    ASSERT_EQ(ks_cpu_silu_mul(out.data(), gate.data(), up.data(), 1, count, count, count, count, dtype, nullptr), KS_OK);
    for (int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<float>(gate.value(0, i));
        const float wanted = x / (1.0f + std::exp(-x));
        const uint32_t bits = encode(rounded(wanted, dtype), dtype);
        EXPECT_LE(steps(out.bits(0, i), bits, dtype), 2) << "silu(" << x << ") is " << out.value(0, i) << ", not " << wanted;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, CpuTypes, ::testing::Values(KS_FLOAT32, KS_FLOAT16, KS_BFLOAT16),
                         [](const auto& info) { return nameOf(info.param); });

}  // namespace
}  // namespace kernelscope::test
