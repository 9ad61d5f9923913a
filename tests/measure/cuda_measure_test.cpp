// Validation and timing on a GPU.

#include <gtest/gtest.h>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "core/device/cuda_support.h"
#include "core/measure/sweep.h"
#include "core/measure/timing.h"
#include "core/measure/validation.h"
#include "tests/measure/wrong_kernels.h"

namespace kernelscope::test {
namespace {

class OnGpu : public testing::Test {
protected:
    void SetUp() override {
        const Result<Device> device = openDevice("cuda");
        if (!device) GTEST_SKIP() << "no CUDA device here";
        m_device = *device;
        ASSERT_TRUE(activate(m_device));
    }
    CaseOutcome check(const Variant& variant, std::string_view caseName, at::ScalarType dtype = at::kBFloat16, OperatorShape shape = shapeFor(896, 33)) {
        Validator validator(*m_operators.find("rms_norm"), shape, dtype, m_device, 1);
        Result<CaseOutcome> outcome = validator.run(variant, caseName);
        EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
        return outcome ? *outcome : CaseOutcome{"no outcome", {}, {}, {}};
    }

    OperatorTable m_operators = builtinOperators();
    Device m_device;
    c10::InferenceMode m_inference;
};

/// Works on a stream of its own and does not wait.
Variant sideStream() {
    return wrongKernel("side_stream", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool(false, x.get_device()));
        out.copy_(rightNorm(x, weight, eps));
    });
}

TEST_F(OnGpu, EveryVariantPassesEveryCaseInEveryType) {
    for (const auto& op : m_operators.all()) {
        for (const auto& [hidden, rows] : {std::pair{896, 7}, {769, 33}, {3584, 257}}) {
            for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
                Validator validator(*op, shapeFor(hidden, rows), dtype, m_device, 3);
                for (const CaseInfo& info : validationCases()) {
                    for (const Variant& variant : op->variants()) {
                        if (!variant.onCuda) continue;
                        const Result<CaseOutcome> outcome = validator.run(variant, info.name);
                        ASSERT_TRUE(outcome) << outcome.error().message;
                        const bool expected = outcome->status == "ok" || (outcome->status == "other_order" && !variant.roundsLikeNative) ||
                                              (outcome->status == "refused" && info.name == "last_stride") || (outcome->status == "skipped" && variant.ownOutputs) ||
                                              // libtorch's own fused norm turns a whole row with an infinity into NaN at widths it cannot vectorise
                                              (outcome->status == "wrong" && variant.name == "aten" && info.name == "nonfinite");
                        EXPECT_TRUE(expected) << op->name() << "=" << variant.name << " " << info.name << " " << dtypeName(dtype) << " " << hidden << ": " << outcome->status
                                              << ": " << outcome->reason;
                    }
                }
            }
        }
    }
}

TEST_F(OnGpu, EveryWrongKernelIsCaughtForItsOwnReason) {
    const auto expectWrong = [&](const Variant& kernel, std::string_view caseName, const std::string& because, at::ScalarType dtype = at::kBFloat16) {
        const CaseOutcome outcome = check(kernel, caseName, dtype);
        EXPECT_EQ(outcome.status, "wrong") << kernel.name;
        EXPECT_NE(outcome.reason.find(because), std::string::npos) << kernel.name << ": " << outcome.reason;
    };
    expectWrong(zeros(), "basic", "every element is 0");
    expectWrong(copyOfInput(), "basic", "copy of the input x");
    expectWrong(inputWriter(), "basic", "wrote to its input x");
    expectWrong(neighbourRowWriter(), "row_stride", "behind the end of row 0");
    expectWrong(outOfBounds(), "basic", "behind the last row");
    expectWrong(truncatingCast(), "basic", "lean towards zero");
    expectWrong(nanOnOverflow(), "overflow", "NaN or infinity", at::kHalf);
    expectWrong(oneRowShort(), "basic", "unwritten");
    EXPECT_EQ(check(castAfterWeight(), "rounding_order").status, "other_order");
}

TEST_F(OnGpu, WorkOnAnotherStreamIsCaught) {
    EXPECT_EQ(check(sideStream(), "side_stream").status, "wrong");
    EXPECT_EQ(check(*m_operators.find("rms_norm")->find("fused"), "side_stream").status, "ok");
}

TEST_F(OnGpu, AVariantThatSynchronisesCannotBeCaptured) {
    Variant waits = wrongKernel("waits", [](const at::Tensor& x, const at::Tensor& weight, at::Tensor out, double eps) {
        out.copy_(rightNorm(x, weight, eps));
        if (out.numel() > 0) (void)out.select(0, 0).sum().item<float>();
    });
    const CaseOutcome outcome = check(waits, "graph");
    EXPECT_EQ(outcome.status, "wrong");
    EXPECT_NE(outcome.reason.find("cannot be captured"), std::string::npos) << outcome.reason;
    EXPECT_EQ(check(*m_operators.find("rms_norm")->find("fused"), "graph").status, "ok") << "a failed capture leaves nothing behind";
}

TEST_F(OnGpu, LimitsAreThoseOfAGpu) {
    const DeviceLimits limits = makeCudaMeter(m_device)->limits();
    EXPECT_GT(limits.copyBytesPerSecond, 1e11);
    EXPECT_GT(limits.launchFloorUs, 0.2);
    EXPECT_LT(limits.launchFloorUs, 10);
    EXPECT_LE(limits.programmaticFloorUs, limits.launchFloorUs * 1.2);
}

TEST_F(OnGpu, DeviceTimesAreSaneAndColdIsSlowerThanWarm) {
    const auto meter = makeCudaMeter(m_device);
    const DeviceLimits limits = meter->limits();
    const Operator& op = *m_operators.find("rms_norm");
    const OperatorShape shape = shapeFor(3584, 2048);
    Operands example = op.example(shape, at::kHalf, 1, Content::ordinary);
    for (at::Tensor& input : example.inputs) input = input.to(m_device.torch);
    const auto timed = [&](const char* name, CacheMode mode) {
        auto calls = meter->prepare(op, *op.find(name), example, mode);
        EXPECT_TRUE(calls) << (calls ? "" : calls.error().message);
        std::vector<Contender> contenders{{op.find(name), calls->get(), {}}};
        RoundOptions options;
        options.mostRounds = 20;
        measureRounds(*meter, contenders, options);
        return median(contenders[0].samplesUs);
    };
    const double byBytes = 1e6 * op.work(shape, at::kHalf).bytes / limits.copyBytesPerSecond;
    const double cold = timed("fused", CacheMode::cold), warm = timed("fused", CacheMode::warm), native = timed("native", CacheMode::cold);
    EXPECT_GT(cold, 0.85 * byBytes);
    EXPECT_LT(cold, 3 * byBytes);
    EXPECT_LT(warm, cold);
    EXPECT_GT(native, 2 * cold);
    EXPECT_GT(timed("fused", CacheMode::chain), 0.2 * warm);
    const std::vector<double> call = meter->callUs(op, *op.find("fused"), example, CacheMode::cold, 50);
    EXPECT_EQ(call.size(), 50U);
    EXPECT_GT(median(call), 0.8 * warm);
}

}  // namespace
}  // namespace kernelscope::test
