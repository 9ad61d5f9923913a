// Programmatic launch must not change what a stream means: chains, neighbours that write late, in place, graphs.

#include "tests/kernels/gpu_neighbours.cuh"
#include "tests/kernels/gpu_tools.h"

namespace kernelscope::test {
namespace {

constexpr int64_t kLateCycles = 40000;  // some 20 us: many times what a norm needs

class GpuOrder : public Gpu {
protected:
    static Tensor filled(int64_t rows, int64_t width, uint32_t seed, double scale = 1.0) {
        Tensor t(KS_BFLOAT16, rows, width);
        t.fillRandom(seed, scale);
        return t;
    }
    void sync() { EXPECT_EQ(cudaStreamSynchronize(m_stream), cudaSuccess); }
    /// Weights near one, so that a chain of norms stays alive.
    static Tensor tameWeight(int64_t width) {
        Tensor w = filled(1, width, 9, 0.05);
        for (int64_t c = 0; c < width; ++c) w.setBits(0, c, encode(1.0 + w.value(0, c), KS_BFLOAT16));
        return w;
    }
};

struct Cell {
    int64_t rows;
    int64_t width;
};
constexpr Cell kCells[] = {{1, 896}, {1, 8192}, {8, 3584}, {64, 896}, {64, 5120}, {512, 1536}, {700, 8192}};

TEST_F(GpuOrder, AChainOfNormsInAGraphEqualsTheSameCallsWithWaits) {
    for (const auto& [rows, width] : kCells) {
        const Tensor start = filled(rows, width, 1);
        DeviceTensor a(start), b(start), weight(tameWeight(width));
        const auto chain = [&](bool wait) {
            for (int i = 0; i < 24; ++i) {
                const DeviceTensor& from = i % 2 == 0 ? a : b;
                const DeviceTensor& to = i % 2 == 0 ? b : a;
                EXPECT_EQ(ks_rms_norm(to.data(), from.data(), weight.data(), rows, width, width, width, 1e-6f, KS_BFLOAT16, m_stream), KS_OK);
                if (wait) sync();
            }
        };
        chain(true);
        const Tensor wanted = a.download();
        for (int repeat = 0; repeat < 5; ++repeat) {
            a.upload(start);
            runAsGraph(m_stream, [&] { chain(false); });
            EXPECT_EQ(a.download().bytes(), wanted.bytes()) << rows << " x " << width;
        }
    }
}

TEST_F(GpuOrder, AChainOfAllOperatorsEqualsTheSameCallsWithWaits) {
    constexpr int64_t kRows = 8, kWidth = 896;
    const Tensor start = filled(kRows, kWidth, 1), other = filled(kRows, kWidth, 2);
    DeviceTensor x(start), residual(other), normed(start), gated(start), key(filled(kRows, 128, 3)), weight(tameWeight(kWidth));
    const RopeTables tables(kRows + 10, 64);
    const DevicePointer cos = toDevice(tables.cos), sin = toDevice(tables.sin);
    const DevicePointer positions = toDevice(std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
    const auto chain = [&](bool wait) {
        const auto settle = [&] {
            if (wait) sync();
        };
        for (int i = 0; i < 12; ++i) {
            EXPECT_EQ(ks_add_rms_norm(normed.data(), residual.data(), x.data(), residual.data(), weight.data(), kRows, kWidth, kWidth, kWidth,
                                      kWidth, kWidth, 1e-6f, KS_BFLOAT16, m_stream),
                      KS_OK);
            settle();
            EXPECT_EQ(ks_rope(normed.data(), key.data(), cos.get(), sin.get(), static_cast<const int64_t*>(positions.get()), kRows, 14, 2, 64,
                              kWidth, 128, KS_BFLOAT16, m_stream),
                      KS_OK);
            settle();
            EXPECT_EQ(ks_silu_mul(gated.data(), normed.data(), normed.data(), kRows, kWidth, kWidth, kWidth, kWidth, KS_BFLOAT16, m_stream),
                      KS_OK);
            settle();
            EXPECT_EQ(ks_rms_norm(x.data(), gated.data(), weight.data(), kRows, kWidth, kWidth, kWidth, 1e-6f, KS_BFLOAT16, m_stream), KS_OK);
            settle();
        }
    };
    chain(true);
    const Tensor wantedX = x.download(), wantedResidual = residual.download(), wantedKey = key.download();
    for (int repeat = 0; repeat < 20; ++repeat) {
        x.upload(start);
        residual.upload(other);
        key.upload(filled(kRows, 128, 3));
        if (repeat % 2 == 0) runAsGraph(m_stream, [&] { chain(false); });
        else chain(false);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        EXPECT_EQ(x.download().bytes(), wantedX.bytes());
        EXPECT_EQ(residual.download().bytes(), wantedResidual.bytes());
        EXPECT_EQ(key.download().bytes(), wantedKey.bytes());
    }
}

/// A neighbour lets our kernel start at once, then writes an operand 20 us later: our kernel must see what it wrote.
TEST_F(GpuOrder, WhatANeighbourWritesLateIsSeenByEveryConfiguration) {
    for (const int op : {KS_RMS_NORM, KS_ADD_RMS_NORM})
        for (const auto& [rows, width] : {Cell{1, 896}, {64, 896}, {1, 1536}, {1, 2048}, {8, 3584}, {1, 5120}, {8, 8192}, {300, 8192}})
            for (int config = -1; config < ks_config_count(op); ++config) {
                ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
                options.config = config;
                options.trigger = KS_TRIGGER_TOP;
                options.prefetch = KS_PREFETCH_ALL;
                const Tensor stale = filled(rows, width, 1), fresh = filled(rows, width, 2), residual = filled(rows, width, 3);
                const Tensor staleWeight = filled(1, width, 4), freshWeight = filled(1, width, 5);
                const DeviceTensor x(stale), source(fresh), r(stale), residualSource(residual), out(stale), total(stale), weight(staleWeight),
                    weightSource(freshWeight);
                const auto copy = [&](const DeviceTensor& to, const DeviceTensor& from, bool early) {
                    EXPECT_EQ(lateCopy(to.data(), from.data(), to.payloadBytes(), kLateCycles, early, m_stream), cudaSuccess);
                };
                const auto call = [&] {
                    if (op == KS_RMS_NORM)
                        return ks_rms_norm_ex(out.data(), x.data(), weight.data(), rows, width, width, width, 1e-6f, KS_BFLOAT16, m_stream,
                                              &options);
                    return ks_add_rms_norm_ex(out.data(), total.data(), x.data(), r.data(), weight.data(), rows, width, width, width, width,
                                              width, 1e-6f, KS_BFLOAT16, m_stream, &options);
                };
                int status = KS_OK;
                // Three neighbours: an early one that writes x, one that never triggers, an early one that writes the weight last.
                copy(x, source, true);
                copy(r, residualSource, false);
                copy(weight, weightSource, true);
                status = call();
                KS_CUDA_OK(cudaStreamSynchronize(m_stream));
                if (status == KS_ERROR_CONFIG && config >= 0) continue;  // does not fit this width
                ASSERT_EQ(status, KS_OK);
                Tensor wanted = stale, wantedTotal = stale;
                if (op == KS_RMS_NORM) {
                    ASSERT_EQ(ks_cpu_rms_norm(wanted.data(), fresh.data(), freshWeight.data(), rows, width, width, width, 1e-6f, KS_BFLOAT16,
                                              nullptr),
                              KS_OK);
                } else {
                    ASSERT_EQ(ks_cpu_add_rms_norm(wanted.data(), wantedTotal.data(), fresh.data(), residual.data(), freshWeight.data(), rows,
                                                  width, width, width, width, width, 1e-6f, KS_BFLOAT16, nullptr),
                              KS_OK);
                }
                expectClose(out.download(), wanted, std::string(config < 0 ? "table" : ks_config_name(op, config)) + ", " +
                                                        std::to_string(rows) + " x " + std::to_string(width));
            }
}

TEST_F(GpuOrder, WhatANeighbourWritesLateIsSeenBySiluMulAndRope) {
    constexpr int64_t kRows = 8, kWidth = 896;
    for (int config = -1; config < 16; ++config) {
        ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
        options.config = config;
        options.prefetch = KS_PREFETCH_ALL;
        const Tensor stale = filled(kRows, kWidth, 1), fresh = filled(kRows, kWidth, 2), up = filled(kRows, kWidth, 3);
        const DeviceTensor gate(stale), source(fresh), upper(up), out(stale);
        if (config < ks_config_count(KS_SILU_MUL)) {
            KS_CUDA_OK(lateCopy(gate.data(), source.data(), gate.payloadBytes(), kLateCycles, true, m_stream));
            ASSERT_EQ(ks_silu_mul_ex(out.data(), gate.data(), upper.data(), kRows, kWidth, kWidth, kWidth, kWidth, KS_BFLOAT16, m_stream,
                                     &options),
                      KS_OK);
            KS_CUDA_OK(cudaStreamSynchronize(m_stream));
            Tensor wanted = stale;
            ASSERT_EQ(ks_cpu_silu_mul(wanted.data(), fresh.data(), up.data(), kRows, kWidth, kWidth, kWidth, kWidth, KS_BFLOAT16, nullptr),
                      KS_OK);
            expectClose(out.download(), wanted, "silu_mul");
        }
        // Positions come late too: the loads that depend on them must as well, and what the memory held before them may be anything.
        for (const int64_t before : {int64_t{30}, int64_t{-1}, int64_t{(1 << 24) - 1}, int64_t{0x7ff0123456789abc}}) {
            if (config >= ks_config_count(KS_ROPE)) break;
            options.prefetch = config % 2 == 0 && before == 30 ? KS_PREFETCH_ALL : KS_PREFETCH_TABLE;
            const RopeTables tables(40, 64);
            const std::vector<int64_t> latePositions{9, 8, 7, 6, 5, 4, 3, 2};
            const DevicePointer cos = toDevice(tables.cos), sin = toDevice(tables.sin);
            const DevicePointer positions = toDevice(std::vector<int64_t>(kRows, before)), positionSource = toDevice(latePositions);
            Tensor key = filled(kRows, 128, 4), query = fresh;
            const DeviceTensor q(stale), k(key);
            KS_CUDA_OK(lateCopy(q.data(), source.data(), q.payloadBytes(), kLateCycles, true, m_stream));
            KS_CUDA_OK(lateCopy(positions.get(), positionSource.get(), kRows * 8, kLateCycles, true, m_stream));
            ASSERT_EQ(ks_rope_ex(q.data(), k.data(), cos.get(), sin.get(), static_cast<const int64_t*>(positions.get()), kRows, 14, 2, 64,
                                 kWidth, 128, KS_BFLOAT16, m_stream, &options),
                      KS_OK);
            KS_CUDA_OK(cudaStreamSynchronize(m_stream));
            ASSERT_EQ(ks_cpu_rope(query.data(), key.data(), tables.cos.data(), tables.sin.data(), latePositions.data(), kRows, 14, 2, 64,
                                  kWidth, 128, KS_BFLOAT16, nullptr),
                      KS_OK);
            EXPECT_EQ(q.download().bytes(), query.bytes());
            EXPECT_EQ(k.download().bytes(), key.bytes());
        }
    }
}

TEST_F(GpuOrder, InPlaceIsRightAtEveryWidthOfTheTables) {
    for (const auto& [rows, width] : {Cell{1, 896}, {1, 1536}, {8, 2048}, {8, 3584}, {1, 5120}, {1, 8192}, {64, 8192}, {512, 896}, {600, 8192}}) {
        const Tensor start = filled(rows, width, 1), other = filled(rows, width, 2), w = filled(1, width, 3);
        DeviceTensor x(start), residual(other), weight(w);
        Tensor wanted = start, wantedTotal = other;
        ASSERT_EQ(ks_cpu_rms_norm(wanted.data(), start.data(), w.data(), rows, width, width, width, 1e-6f, KS_BFLOAT16, nullptr), KS_OK);
        ASSERT_EQ(ks_rms_norm(x.data(), x.data(), weight.data(), rows, width, width, width, 1e-6f, KS_BFLOAT16, m_stream), KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        expectClose(x.download(), wanted, "rms_norm in place");
        x.upload(start);
        ASSERT_EQ(ks_cpu_add_rms_norm(wanted.data(), wantedTotal.data(), start.data(), other.data(), w.data(), rows, width, width, width, width,
                                      width, 1e-6f, KS_BFLOAT16, nullptr),
                  KS_OK);
        ASSERT_EQ(ks_add_rms_norm(x.data(), residual.data(), x.data(), residual.data(), weight.data(), rows, width, width, width, width, width,
                                  1e-6f, KS_BFLOAT16, m_stream),
                  KS_OK);
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        expectClose(x.download(), wanted, "add_rms_norm in place");
        EXPECT_EQ(residual.download().bytes(), wantedTotal.bytes());
    }
}

TEST_F(GpuOrder, SplitConfigurationsAreRefusedInPlace) {
    const Tensor start = filled(1, 8192, 1);
    const DeviceTensor x(start), weight(start);
    int refused = 0;
    for (int config = 0; config < ks_config_count(KS_RMS_NORM); ++config) {
        const std::string name = ks_config_name(KS_RMS_NORM, config);
        if (name.find(" s") == std::string::npos) continue;
        ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
        options.config = config;
        EXPECT_EQ(ks_rms_norm_ex(x.data(), x.data(), weight.data(), 1, 1024, 1024, 1024, 1e-6f, KS_BFLOAT16, m_stream, &options),
                  KS_ERROR_CONFIG)
            << name;
        ++refused;
    }
    EXPECT_GT(refused, 0);
}

TEST_F(GpuOrder, PartlyOverlappingDeviceBuffersAreRefused) {
    const Tensor start = filled(4, 896, 1);
    const DeviceTensor x(start), weight(filled(1, 896, 2));
    char* const shifted = static_cast<char*>(x.data()) + 16;
    EXPECT_EQ(ks_rms_norm(shifted, x.data(), weight.data(), 3, 896, 896, 896, 1e-6f, KS_BFLOAT16, m_stream), KS_ERROR_OVERLAP);
    EXPECT_EQ(x.download().bytes(), start.bytes());
}

TEST_F(GpuOrder, AReaderRightBehindSeesTheResult) {
    for (const auto& [rows, width] : kCells) {
        const Tensor start = filled(rows, width, 1);
        const DeviceTensor x(start), out(start), seen(start), weight(filled(1, width, 2));
        ASSERT_EQ(ks_rms_norm(out.data(), x.data(), weight.data(), rows, width, width, width, 1e-6f, KS_BFLOAT16, m_stream), KS_OK);
        KS_CUDA_OK(lateCopy(seen.data(), out.data(), out.payloadBytes(), 0, true, m_stream));
        KS_CUDA_OK(cudaStreamSynchronize(m_stream));
        EXPECT_EQ(seen.download().bytes(), out.download().bytes()) << rows << " x " << width;
    }
}

}  // namespace
}  // namespace kernelscope::test
