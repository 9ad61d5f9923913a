// Every CUDA kernel against its CPU twin, over shapes, types, strides and alignments; and what it must not touch.

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>

#include "tests/kernels/gpu_tools.h"

namespace kernelscope::test {
namespace {

using Layout = std::tuple<int64_t, int64_t>;  // gap between rows, shift of the first element
constexpr Layout kLayouts[] = {{0, 0}, {64, 0}, {30, 0}, {0, 1}};
constexpr int kTypes[] = {KS_FLOAT32, KS_FLOAT16, KS_BFLOAT16};

Tensor filled(int dtype, int64_t rows, int64_t width, Layout layout, uint32_t seed, double scale = 1.0) {
    Tensor t(dtype, rows, width, width + std::get<0>(layout), std::get<1>(layout));
    t.fillRandom(seed, scale);
    return t;
}

std::string describe(int dtype, int64_t rows, int64_t width, Layout layout) {
    return nameOf(dtype) + " " + std::to_string(rows) + " x " + std::to_string(width) + " gap " + std::to_string(std::get<0>(layout)) +
           " shift " + std::to_string(std::get<1>(layout));
}

class GpuShapes : public Gpu {
protected:
    void norm(int dtype, int64_t rows, int64_t width, Layout layout, const ks_launch_options* options) {
        const Tensor x = filled(dtype, rows, width, layout, 1);
        Tensor weight(dtype, 1, width);
        weight.fillRandom(2);
        Tensor wanted = filled(dtype, rows, width, layout, 3);
        const DeviceTensor dx(x), dw(weight), dout(wanted);
        ASSERT_EQ(ks_rms_norm_ex(dout.data(), dx.data(), dw.data(), rows, width, x.stride(), dout.stride(), 1e-6f, dtype, m_stream, options),
                  KS_OK);
        ASSERT_EQ(ks_cpu_rms_norm(wanted.data(), x.data(), weight.data(), rows, width, x.stride(), wanted.stride(), 1e-6f, dtype, nullptr),
                  KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        expectClose(dout.download(), wanted, "rms_norm " + describe(dtype, rows, width, layout));
        EXPECT_EQ(dx.download().bytes(), x.bytes()) << "the input changed";
    }

    void addNorm(int dtype, int64_t rows, int64_t width, Layout layout, const ks_launch_options* options) {
        const Tensor x = filled(dtype, rows, width, layout, 1), residual = filled(dtype, rows, width, layout, 2);
        Tensor weight(dtype, 1, width);
        weight.fillRandom(3);
        Tensor out = filled(dtype, rows, width, layout, 4), total = filled(dtype, rows, width, layout, 5);
        const DeviceTensor dx(x), dr(residual), dw(weight), dout(out), dtotal(total);
        ASSERT_EQ(ks_add_rms_norm_ex(dout.data(), dtotal.data(), dx.data(), dr.data(), dw.data(), rows, width, x.stride(), residual.stride(),
                                     dout.stride(), dtotal.stride(), 1e-6f, dtype, m_stream, options),
                  KS_OK);
        ASSERT_EQ(ks_cpu_add_rms_norm(out.data(), total.data(), x.data(), residual.data(), weight.data(), rows, width, x.stride(),
                                      residual.stride(), out.stride(), total.stride(), 1e-6f, dtype, nullptr),
                  KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        const std::string what = "add_rms_norm " + describe(dtype, rows, width, layout);
        expectClose(dout.download(), out, what);
        EXPECT_EQ(dtotal.download().bytes(), total.bytes()) << what << ": the stored sum is exact, and nothing beside it changes";
        EXPECT_EQ(dx.download().bytes(), x.bytes()) << "the input changed";
        EXPECT_EQ(dr.download().bytes(), residual.bytes()) << "the residual changed";
    }

    void siluMul(int dtype, int64_t rows, int64_t width, Layout layout, const ks_launch_options* options) {
        const Tensor gate = filled(dtype, rows, width, layout, 1, 6.0), up = filled(dtype, rows, width, layout, 2);
        Tensor out = filled(dtype, rows, width, layout, 3);
        const DeviceTensor dg(gate), du(up), dout(out);
        ASSERT_EQ(ks_silu_mul_ex(dout.data(), dg.data(), du.data(), rows, width, gate.stride(), up.stride(), dout.stride(), dtype, m_stream,
                                 options),
                  KS_OK);
        ASSERT_EQ(ks_cpu_silu_mul(out.data(), gate.data(), up.data(), rows, width, gate.stride(), up.stride(), out.stride(), dtype, nullptr),
                  KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        expectClose(dout.download(), out, "silu_mul " + describe(dtype, rows, width, layout));
    }

    void rope(int dtype, int64_t tokens, int64_t qHeads, int64_t kvHeads, int64_t headDim, Layout layout, const ks_launch_options* options) {
        const int64_t qWidth = qHeads * headDim;
        Tensor packed = filled(dtype, tokens, qWidth + kvHeads * headDim, layout, 1);  // q and k as slices of one row
        const RopeTables tables(tokens + 40, headDim);
        std::vector<int64_t> positions;
        for (int64_t i = 0; i < tokens; ++i) positions.push_back((i * 13 + 5) % (tokens + 40));
        const DeviceTensor device(packed);
        const DevicePointer cos = toDevice(tables.cos), sin = toDevice(tables.sin), at = toDevice(positions);
        const size_t toK = static_cast<size_t>(qWidth) * bytesOf(dtype);
        ASSERT_EQ(ks_rope_ex(device.data(), static_cast<char*>(device.data()) + toK, cos.get(), sin.get(),
                             static_cast<const int64_t*>(at.get()), tokens, qHeads, kvHeads, headDim, packed.stride(), packed.stride(), dtype,
                             m_stream, options),
                  KS_OK);
        ASSERT_EQ(ks_cpu_rope(packed.data(), static_cast<char*>(packed.data()) + toK, tables.cos.data(), tables.sin.data(), positions.data(),
                              tokens, qHeads, kvHeads, headDim, packed.stride(), packed.stride(), dtype, nullptr),
                  KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        EXPECT_EQ(device.download().bytes(), packed.bytes())
            << "rope is bit-equal: " << describe(dtype, tokens, headDim, layout) << ", heads " << qHeads << "+" << kvHeads;
    }
};

TEST_F(GpuShapes, NormsOfAnyWidthMatchTheCpu) {
    for (const int dtype : kTypes)
        for (const int64_t rows : {1, 9, 70})
            for (const int64_t width : {1, 7, 8, 64, 769, 896, 1536, 2048, 3072, 3584, 5120, 8192})
                for (const Layout& layout : kLayouts) {
                    if (rows == 70 && width > 2048) continue;
                    norm(dtype, rows, width, layout, nullptr);
                    addNorm(dtype, rows, width, layout, nullptr);
                    if (HasFatalFailure()) return;
                }
}

TEST_F(GpuShapes, VeryWideRowsMatchTheCpu) {
    for (const int dtype : kTypes)
        for (const int64_t width : {16384, 65536, 70000, 200001}) {
            norm(dtype, 2, width, {0, 0}, nullptr);
            addNorm(dtype, 2, width, {0, 0}, nullptr);
        }
}

TEST_F(GpuShapes, PlainLaunchesMatchTheCpu) {
    ks_launch_options plain = KS_LAUNCH_OPTIONS_INIT;
    plain.flags = KS_FLAG_PLAIN_LAUNCH;
    for (const int dtype : kTypes)
        for (const int64_t width : {769, 896, 1536, 2048, 3584, 5120, 8192})
            for (const int64_t rows : {1, 64}) {
                norm(dtype, rows, width, {0, 0}, &plain);
                addNorm(dtype, rows, width, {0, 0}, &plain);
            }
    siluMul(KS_BFLOAT16, 9, 4864, {0, 0}, &plain);
    rope(KS_BFLOAT16, 9, 14, 2, 64, {0, 0}, &plain);
}

TEST_F(GpuShapes, TheTablesChoicesForManyRowsMatchTheCpu) {
    for (const int dtype : {KS_FLOAT16, KS_BFLOAT16})
        for (const auto& [rows, width] : {std::pair<int64_t, int64_t>{300, 896}, {300, 3584}, {1500, 896}, {1500, 1536}, {1100, 2048},
                                          {1100, 5120}, {1100, 8192}, {5000, 896}, {5000, 1536}, {17000, 896}}) {
            norm(dtype, rows, width, {0, 0}, nullptr);
            addNorm(dtype, rows, width, {0, 0}, nullptr);
        }
}

TEST_F(GpuShapes, SiluMulMatchesTheCpu) {
    for (const int dtype : kTypes)
        for (const int64_t rows : {1, 9, 65})
            for (const int64_t width : {1, 7, 8, 769, 4864, 8960})
                for (const Layout& layout : kLayouts) siluMul(dtype, rows, width, layout, nullptr);
}

TEST_F(GpuShapes, SiluMulOfSpecialValuesMatchesTheCpu) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (const int dtype : kTypes) {
        Tensor gate(dtype, 1, 4096), up(dtype, 1, 4096), out(dtype, 1, 4096);
        up.fillRandom(1);
        const double specials[] = {0.0, -0.0, kInf, -kInf, std::nan(""), 60000.0, -60000.0, 1e-7, -1e-7, 1e-40, 3e38, -3e38};
        for (int64_t c = 0; c < 4096; ++c)  // every special value, then a sweep from -128 to 128
            gate.setBits(0, c, encode(c < 12 ? specials[c] : static_cast<double>(c - 2048) / 16.0, dtype));
        const DeviceTensor dg(gate), du(up), dout(out);
        ASSERT_EQ(ks_silu_mul(dout.data(), dg.data(), du.data(), 1, 4096, 4096, 4096, 4096, dtype, m_stream), KS_OK);
        ASSERT_EQ(ks_cpu_silu_mul(out.data(), gate.data(), up.data(), 1, 4096, 4096, 4096, 4096, dtype, nullptr), KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        const Tensor found = dout.download();
        for (int64_t c = 0; c < 4096; ++c)
            EXPECT_LE(steps(found.bits(0, c), out.bits(0, c), dtype), dtype == KS_FLOAT32 ? 8 : 2)
                << nameOf(dtype) << ": silu(" << gate.value(0, c) << ") * " << up.value(0, c) << " is " << found.value(0, c) << ", not "
                << out.value(0, c);
    }
}

TEST_F(GpuShapes, RopeIsBitEqualToTheCpu) {
    for (const int dtype : kTypes)
        for (const int64_t tokens : {1, 9, 130})
            for (const Layout& layout : kLayouts) {
                rope(dtype, tokens, 14, 2, 64, layout, nullptr);
                rope(dtype, tokens, 12, 2, 128, layout, nullptr);
                rope(dtype, tokens, 7, 1, 128, layout, nullptr);
                rope(dtype, tokens, 3, 0, 48, layout, nullptr);
                rope(dtype, tokens, 5, 5, 6, layout, nullptr);
            }
}

/// A norm configuration's THREADSxVECTORS, and teams and stages where it is a ring.
struct ConfigShape {
    explicit ConfigShape(const std::string& name) {
        EXPECT_EQ(std::sscanf(name.c_str() + name.find_first_of("0123456789"), "%dx%d", &threads, &vectors), 2);
        if (name.rfind("ring", 0) != 0) return;
        EXPECT_EQ(std::sscanf(name.c_str() + name.find(" t") + 2, "%d %d", &teams, &stages), 2);
    }
    /// The widest of the tables' widths that it holds.
    [[nodiscard]] int64_t width() const {
        int64_t widest = 0;
        for (const int64_t candidate : {896, 1536, 2048, 3584, 5120, 8192})
            if (candidate <= int64_t{threads} * vectors * 8) widest = candidate;
        return widest > 0 ? widest : int64_t{threads} * vectors * 8;
    }
    int threads = 0, vectors = 0, teams = 0, stages = 0;
};

TEST_F(GpuShapes, EveryConfigurationOfTheListsMatchesTheCpu) {
    constexpr std::array kPrefetches{KS_PREFETCH_WEIGHT, KS_PREFETCH_FIRST_WAVE, KS_PREFETCH_ALL, KS_PREFETCH_HALF_WAVE};
    int tried = 0;
    for (const int dtype : {KS_FLOAT16, KS_BFLOAT16})
        for (const int op : {KS_RMS_NORM, KS_ADD_RMS_NORM})
            for (int config = 0; config < ks_config_count(op); ++config) {
                const std::string name = ks_config_name(op, config);
                const ConfigShape shape(name);
                SCOPED_TRACE(name);
                for (const int64_t rows : {1, 3, 35})
                    for (const int64_t width : {shape.width(), shape.width() - 8}) {
                        ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
                        options.config = config;
                        options.trigger = (config + static_cast<int>(rows)) % 4;
                        options.prefetch = kPrefetches[static_cast<size_t>(config) % kPrefetches.size()];
                        options.blocks_per_sm = config % 3;
                        // All row counts are odd: of each configuration one is launched plainly and two programmatically, or the other way round.
                        options.flags = (config + static_cast<int>(rows / 2)) % 2 == 0 ? KS_FLAG_PLAIN_LAUNCH : 0;
                        if (op == KS_RMS_NORM) norm(dtype, rows, width, {0, 0}, &options);
                        else addNorm(dtype, rows, width, {64, 0}, &options);
                        ++tried;
                        if (HasFatalFailure()) return;
                    }
            }
    EXPECT_GT(tried, 100);
    for (const int dtype : kTypes)
        for (int config = 0; config < ks_config_count(KS_SILU_MUL); ++config) {
            ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
            options.config = config;
            options.prefetch = KS_PREFETCH_ALL;
            siluMul(dtype, 33, 4864, {64, 0}, &options);
        }
    for (const int dtype : kTypes)
        for (int config = 0; config < ks_config_count(KS_ROPE); ++config) {
            ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
            options.config = config;
            options.prefetch = config % 2 == 0 ? KS_PREFETCH_ALL : KS_PREFETCH_TABLE;
            rope(dtype, 33, 14, 2, 64, {64, 0}, &options);
            rope(dtype, 33, 28, 4, 128, {64, 0}, &options);
        }
}

TEST_F(GpuShapes, RingsThatGoRoundSeveralTimesMatchTheCpu) {
    int multiprocessors = 0;
    KS_CUDA_OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    for (const int op : {KS_RMS_NORM, KS_ADD_RMS_NORM})
        for (int config = 0; config < ks_config_count(op); ++config) {
            const std::string name = ks_config_name(op, config);
            const ConfigShape shape(name);
            if (shape.stages == 0) continue;
            SCOPED_TRACE(name);
            ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
            options.config = config;
            options.trigger = KS_TRIGGER_AFTER_WAIT;
            options.prefetch = config % 2 == 0 ? KS_PREFETCH_FIRST_WAVE : KS_PREFETCH_HALF_WAVE;
            options.blocks_per_sm = 1;
            // So that every slot of every team is filled three times, and the last round is not full.
            const int64_t rows = int64_t{multiprocessors} * shape.teams * (2 * shape.stages + 1) + shape.teams / 2 + 1;
            if (op == KS_RMS_NORM) norm(KS_BFLOAT16, rows, shape.width(), {0, 0}, &options);
            else addNorm(KS_BFLOAT16, rows, shape.width(), {0, 0}, &options);
        }
}

TEST_F(GpuShapes, ATableOfTheUsersStandsBeforeTheBuiltInOne) {
    ks_launch_options builtIn = KS_LAUNCH_OPTIONS_INIT;
    ASSERT_EQ(ks_choose(KS_RMS_NORM, 8, 896, KS_BFLOAT16, &builtIn), KS_OK);
    int capability = 0;
    KS_CUDA_OK(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, 0));
    if (capability < 9) GTEST_SKIP() << "the tables of the norms serve compute capability 9.0 and above";
    const int other = builtIn.config == 0 ? 1 : 0;
    ks_table_entry entry{KS_RMS_NORM, 0, 8, 896, other, KS_TRIGGER_TOP, KS_PREFETCH_ALL, 0};
    ASSERT_EQ(ks_use_table(&entry, 1), KS_OK);
    ks_launch_options chosen = KS_LAUNCH_OPTIONS_INIT;
    ASSERT_EQ(ks_choose(KS_RMS_NORM, 8, 896, KS_BFLOAT16, &chosen), KS_OK);
    EXPECT_EQ(chosen.config, other);
    norm(KS_BFLOAT16, 8, 896, {0, 0}, nullptr);
    ks_launch_options beside = KS_LAUNCH_OPTIONS_INIT;  // a cell that the user's table does not have
    ASSERT_EQ(ks_choose(KS_RMS_NORM, 64, 896, KS_BFLOAT16, &beside), KS_OK);
    for (const ks_table_entry& wrong : {ks_table_entry{4, 0, 8, 896, 0, 0, 0, 0}, {KS_RMS_NORM, 0, 9, 896, 0, 0, 0, 0}, {KS_RMS_NORM, 0, 8, 4864, 0, 0, 0, 0},
                                        {KS_RMS_NORM, 0, 8, 896, 10000, 0, 0, 0}, {KS_RMS_NORM, 0, 8, 896, 0, 9, 0, 0}})
        EXPECT_NE(ks_use_table(&wrong, 1), KS_OK);
    ASSERT_EQ(ks_choose(KS_RMS_NORM, 8, 896, KS_BFLOAT16, &chosen), KS_OK);
    EXPECT_EQ(chosen.config, other) << "a wrong table changes nothing";
    ASSERT_EQ(ks_use_table(nullptr, 0), KS_OK);
    ASSERT_EQ(ks_choose(KS_RMS_NORM, 8, 896, KS_BFLOAT16, &chosen), KS_OK);
    EXPECT_EQ(chosen.config, builtIn.config);
}

TEST_F(GpuShapes, AConfigurationThatDoesNotFitIsRefused) {
    const DevicePointer memory = allocate(1 << 20);
    char* const base = static_cast<char*>(memory.get());
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    options.config = 0;
    const auto call = [&](int64_t hidden, int dtype) {
        return ks_rms_norm_ex(base, base + (1 << 18), base + (1 << 19), 1, hidden, hidden, hidden, 1e-6f, dtype, m_stream, &options);
    };
    EXPECT_EQ(call(8192, KS_BFLOAT16), KS_ERROR_CONFIG) << "too wide";
    EXPECT_EQ(call(769, KS_BFLOAT16), KS_ERROR_CONFIG) << "no whole vectors";
    EXPECT_EQ(call(512, KS_FLOAT32), KS_ERROR_CONFIG) << "only 16-bit types";
    options.config = ks_config_count(KS_RMS_NORM);
    EXPECT_EQ(call(896, KS_BFLOAT16), KS_ERROR_CONFIG) << "beyond the list";
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(GpuShapes, ZeroRowsLaunchNothingAndLeaveNoError) {
    for (const int dtype : kTypes) {
        EXPECT_EQ(ks_rms_norm(nullptr, nullptr, nullptr, 0, 896, 896, 896, 1e-6f, dtype, m_stream), KS_OK);
        EXPECT_EQ(ks_silu_mul(nullptr, nullptr, nullptr, 0, 896, 896, 896, 896, dtype, m_stream), KS_OK);
        EXPECT_EQ(ks_rope(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 14, 2, 64, 896, 128, dtype, m_stream), KS_OK);
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(GpuShapes, InfinityAndNanStayInTheirRow) {
    for (const int dtype : kTypes) {
        Tensor x(dtype, 3, 896), weight(dtype, 1, 896), wanted(dtype, 3, 896);
        x.fillRandom(1);
        weight.fillRandom(2);
        x.setBits(1, 17, encode(std::numeric_limits<double>::quiet_NaN(), dtype));
        const DeviceTensor dx(x), dw(weight), dout(wanted);
        ASSERT_EQ(ks_rms_norm(dout.data(), dx.data(), dw.data(), 3, 896, 896, 896, 1e-6f, dtype, m_stream), KS_OK);
        ASSERT_EQ(ks_cpu_rms_norm(wanted.data(), x.data(), weight.data(), 3, 896, 896, 896, 1e-6f, dtype, nullptr), KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        const Tensor found = dout.download();
        for (int64_t row = 0; row < 3; ++row)
            for (int64_t c = 0; c < 896; ++c) EXPECT_LE(steps(found.bits(row, c), wanted.bits(row, c), dtype), 8) << row << "," << c;
    }
}

TEST_F(GpuShapes, HugeTensorsBeyondTwoToThe31ElementsAreRightAtTheirEnd) {
    constexpr int64_t kWidth = 896, kRows = (int64_t{1} << 31) / kWidth + 1000, kTail = 3;
    size_t free = 0, total = 0;
    KS_CUDA_OK(cudaMemGetInfo(&free, &total));
    const auto bytes = static_cast<size_t>(kRows * kWidth) * 2;
    if (free < 2 * bytes + (size_t{1} << 30)) GTEST_SKIP() << "needs 9 GB of device memory";
    const DevicePointer x = allocate(bytes), out = allocate(bytes);
    KS_CUDA_OK(cudaMemset(x.get(), 0x3c, bytes));
    Tensor tail(KS_BFLOAT16, kTail, kWidth), weight(KS_BFLOAT16, 1, kWidth), wanted(KS_BFLOAT16, kTail, kWidth);
    tail.fillRandom(1);
    weight.fillRandom(2);
    const size_t tailAt = static_cast<size_t>((kRows - kTail) * kWidth) * 2;
    KS_CUDA_OK(cudaMemcpy(static_cast<char*>(x.get()) + tailAt, tail.data(), static_cast<size_t>(kTail * kWidth) * 2, cudaMemcpyHostToDevice));
    KS_CUDA_OK(cudaDeviceSynchronize());
    const DeviceTensor dw(weight);
    ASSERT_EQ(ks_rms_norm(out.get(), x.get(), dw.data(), kRows, kWidth, kWidth, kWidth, 1e-6f, KS_BFLOAT16, m_stream), KS_OK);
    KS_CUDA_OK(cudaStreamSynchronize(m_stream));
    ASSERT_EQ(ks_cpu_rms_norm(wanted.data(), tail.data(), weight.data(), kTail, kWidth, kWidth, kWidth, 1e-6f, KS_BFLOAT16, nullptr), KS_OK);
    Tensor found(KS_BFLOAT16, kTail, kWidth);
    const auto check = [&](const char* what) {
        EXPECT_EQ(cudaMemcpy(found.data(), static_cast<char*>(out.get()) + tailAt, static_cast<size_t>(kTail * kWidth) * 2, cudaMemcpyDeviceToHost),
                  cudaSuccess);
        expectClose(found, wanted, what);
    };
    check("rms_norm");
    // One row of everything, as as_strided gives it, and silu_mul over all elements.
    ASSERT_EQ(ks_silu_mul(out.get(), x.get(), x.get(), kRows, kWidth, kWidth, kWidth, kWidth, KS_BFLOAT16, m_stream), KS_OK);
    KS_CUDA_OK(cudaStreamSynchronize(m_stream));
    ASSERT_EQ(ks_cpu_silu_mul(wanted.data(), tail.data(), tail.data(), kTail, kWidth, kWidth, kWidth, kWidth, KS_BFLOAT16, nullptr), KS_OK);
    check("silu_mul");
}

}  // namespace
}  // namespace kernelscope::test
