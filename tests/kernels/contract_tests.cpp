// What the C functions refuse, and with which words. The checks look at addresses only, so the CUDA functions are tested here too, without
// a GPU: a refusal must come before anything asks for one.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernelscope/builtin_kernels.h"
#include "tests/kernels/test_data.h"

namespace kernelscope::test {
namespace {

class Contract : public ::testing::TestWithParam<RmsNormFunction> {
protected:
    int call(void* out, const void* x, const void* weight, int64_t rows, int64_t hidden, int64_t xStride, int64_t outStride,
             int dtype = KS_FLOAT32) {
        return GetParam()(out, x, weight, rows, hidden, xStride, outStride, 1e-6f, dtype, nullptr);
    }
    std::vector<float> m_x = std::vector<float>(1024, 1.0f);
    std::vector<float> m_weight = std::vector<float>(64, 1.0f);
    std::vector<float> m_out = std::vector<float>(1024, 7.0f);
};

TEST_P(Contract, ZeroRowsAndZeroWidthAreDoneWithoutPointers) {
    EXPECT_EQ(call(nullptr, nullptr, nullptr, 0, 64, 64, 64), KS_OK);
    EXPECT_EQ(call(nullptr, nullptr, nullptr, 5, 0, 64, 64), KS_OK);
}

TEST_P(Contract, NullPointersAreRefused) {
    EXPECT_EQ(call(nullptr, m_x.data(), m_weight.data(), 2, 64, 64, 64), KS_ERROR_NULL_POINTER);
    EXPECT_EQ(call(m_out.data(), nullptr, m_weight.data(), 2, 64, 64, 64), KS_ERROR_NULL_POINTER);
    EXPECT_EQ(call(m_out.data(), m_x.data(), nullptr, 2, 64, 64, 64), KS_ERROR_NULL_POINTER);
}

TEST_P(Contract, NegativeSizesAndUnknownTypesAreRefused) {
    EXPECT_EQ(call(m_out.data(), m_x.data(), m_weight.data(), -1, 64, 64, 64), KS_ERROR_SIZE);
    EXPECT_EQ(call(m_out.data(), m_x.data(), m_weight.data(), 1, -64, 64, 64), KS_ERROR_SIZE);
    EXPECT_EQ(call(m_out.data(), m_x.data(), m_weight.data(), 1, 64, 64, 64, 3), KS_ERROR_DTYPE);
}

TEST_P(Contract, RowsOfAnOutputThatOverlapEachOtherAreRefused) {
    EXPECT_EQ(call(m_out.data(), m_x.data(), m_weight.data(), 2, 64, 64, 63), KS_ERROR_STRIDE);
    EXPECT_EQ(call(m_out.data(), m_x.data(), m_weight.data(), 2, 64, -64, 64), KS_ERROR_STRIDE);
}

TEST_P(Contract, APointerInsideAnElementIsRefused) {
    EXPECT_EQ(call(reinterpret_cast<char*>(m_out.data()) + 2, m_x.data(), m_weight.data(), 2, 64, 64, 64), KS_ERROR_ALIGNMENT);
}

TEST_P(Contract, PartlyOverlappingBuffersAreRefusedAndLeftAlone) {
    const std::vector<float> before = m_x;
    EXPECT_EQ(call(m_x.data() + 16, m_x.data(), m_weight.data(), 2, 64, 64, 64), KS_ERROR_OVERLAP);
    EXPECT_EQ(call(m_x.data(), m_x.data(), m_weight.data(), 2, 64, 64, 128), KS_ERROR_OVERLAP);
    EXPECT_EQ(call(m_x.data(), m_out.data(), m_x.data() + 32, 2, 64, 64, 64), KS_ERROR_OVERLAP);
    EXPECT_EQ(m_x, before);
}

TEST_P(Contract, SizesBeyondTheAddressSpaceAreRefused) {
    EXPECT_EQ(call(m_out.data(), m_x.data(), m_weight.data(), int64_t{1} << 40, 64, int64_t{1} << 40, 64), KS_ERROR_SIZE);
}

INSTANTIATE_TEST_SUITE_P(Backends, Contract, ::testing::Values(&ks_rms_norm, &ks_cpu_rms_norm),
                         [](const auto& info) { return info.index == 0 ? "cuda" : "cpu"; });

TEST(CpuContract, AnOutputBetweenTheRowsOfAnInputIsRight) {
    std::vector<float> buffer(8 * 128, 2.0f);
    std::vector<float> weight(64, 3.0f);
    ASSERT_EQ(ks_cpu_rms_norm(buffer.data() + 64, buffer.data(), weight.data(), 8, 64, 128, 128, 0.0f, KS_FLOAT32, nullptr), KS_OK);
    for (size_t i = 0; i < buffer.size(); ++i) EXPECT_FLOAT_EQ(buffer[i], i % 128 < 64 ? 2.0f : 3.0f) << i;
}

TEST(CpuContract, ABroadcastInputRowIsRight) {
    std::vector<float> row(64, 2.0f), weight(64, 3.0f), out(4 * 64, 0.0f);
    ASSERT_EQ(ks_cpu_rms_norm(out.data(), row.data(), weight.data(), 4, 64, 0, 64, 0.0f, KS_FLOAT32, nullptr), KS_OK);
    for (const float v : out) EXPECT_FLOAT_EQ(v, 3.0f);
}

TEST(CpuContract, OneRowMayHaveAnyStride) {
    std::vector<float> x(64, 2.0f), weight(64, 3.0f), out(64, 0.0f);
    ASSERT_EQ(ks_cpu_rms_norm(out.data(), x.data(), weight.data(), 1, 64, int64_t{1} << 31, int64_t{1} << 31, 0.0f, KS_FLOAT32, nullptr),
              KS_OK);
    for (const float v : out) EXPECT_FLOAT_EQ(v, 3.0f);
}

TEST(CpuContract, TwoOutputsInOneBufferAreRefused) {
    std::vector<float> x(64, 2.0f), weight(64, 3.0f), out(64, 0.0f);
    EXPECT_EQ(ks_cpu_add_rms_norm(out.data(), out.data(), x.data(), x.data(), weight.data(), 1, 64, 64, 64, 64, 64, 0.0f, KS_FLOAT32, nullptr),
              KS_ERROR_OVERLAP);
}

TEST(CpuContract, AnOddHeadSizeIsRefused) {
    std::vector<float> q(64), k(64), table(64);
    const int64_t position = 0;
    EXPECT_EQ(ks_cpu_rope(q.data(), k.data(), table.data(), table.data(), &position, 1, 1, 1, 63, 63, 63, KS_FLOAT32, nullptr), KS_ERROR_SIZE);
}

TEST(CpuContract, RopeWithoutKeyHeadsNeedsNoKeyPointer) {
    std::vector<float> q(64, 1.0f), cos(64, 0.0f), sin(64, 1.0f);
    const int64_t position = 0;
    ASSERT_EQ(ks_cpu_rope(q.data(), nullptr, cos.data(), sin.data(), &position, 1, 1, 0, 64, 64, 0, KS_FLOAT32, nullptr), KS_OK);
    EXPECT_FLOAT_EQ(q[0], -1.0f);
    EXPECT_FLOAT_EQ(q[32], 1.0f);
}

TEST(Options, OfAnotherSizeAreRefused) {
    std::vector<float> x(64, 2.0f), weight(64, 3.0f), out(64, 0.0f);
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    options.size = 4;
    EXPECT_EQ(ks_cpu_rms_norm_ex(out.data(), x.data(), weight.data(), 1, 64, 64, 64, 0.0f, KS_FLOAT32, nullptr, &options), KS_ERROR_CONFIG);
}

TEST(Status, EveryCodeHasItsOwnText) {
    std::vector<std::string> seen;
    for (int status = KS_OK; status <= KS_ERROR_CONFIG; ++status) {
        const std::string text = ks_status_string(status);
        EXPECT_NE(text, "unknown status") << status;
        EXPECT_EQ(std::count(seen.begin(), seen.end(), text), 0) << text;
        seen.push_back(text);
    }
    EXPECT_STREQ(ks_status_string(999), "unknown status");
    EXPECT_NE(ks_status_string(KS_ERROR_CUDA + 1), nullptr);
}

TEST(BuiltinKernels, AreFoundByDeviceOperatorAndVariant) {
    const KernelTable table = builtinKernels();
    EXPECT_EQ(table.find<RmsNormFunction>(KernelDevice::cpu, "rms_norm", "fused"), &ks_cpu_rms_norm);
    EXPECT_EQ(table.find<RopeFunction>(KernelDevice::cpu, "rope", "fused"), &ks_cpu_rope);
    EXPECT_EQ(table.find<RopeFunction>(KernelDevice::cpu, "rms_norm", "fused"), nullptr) << "a function of another type";
    EXPECT_EQ(table.find<RmsNormFunction>(KernelDevice::cpu, "rms_norm", "nonesuch"), nullptr);
}

TEST(BuiltinKernels, CoverEveryOperatorOnEveryBuiltDevice) {
    const KernelTable table = builtinKernels();
    const bool cuda = ks_config_count(KS_RMS_NORM) > 0;
    for (const char* op : {"rms_norm", "add_rms_norm", "silu_mul", "rope"})
        for (const KernelDevice device : {KernelDevice::cpu, KernelDevice::cuda}) {
            int found = 0;
            for (const KernelEntry& entry : table.entries()) found += entry.op == op && entry.device == device && entry.variant == "fused";
            EXPECT_EQ(found, device == KernelDevice::cuda && !cuda ? 0 : 1) << op;
        }
}

TEST(Configurations, HaveNamesAndEnd) {
    for (const int op : {KS_RMS_NORM, KS_ADD_RMS_NORM, KS_SILU_MUL, KS_ROPE}) {
        const int count = ks_config_count(op);
        for (int i = 0; i < count; ++i) EXPECT_NE(ks_config_name(op, i), nullptr);
        EXPECT_EQ(ks_config_name(op, count), nullptr);
        EXPECT_EQ(ks_config_name(op, -1), nullptr);
    }
    EXPECT_EQ(ks_config_count(4), 0);
}

}  // namespace
}  // namespace kernelscope::test
