// Validation: what is right passes, and each wrong kernel is caught for its own reason.

#include <gtest/gtest.h>

#include "core/measure/validation.h"
#include "tests/measure/wrong_kernels.h"

namespace kernelscope::test {
namespace {

class ValidationTest : public testing::Test {
protected:
    CaseOutcome check(const Variant& variant, std::string_view caseName, at::ScalarType dtype = at::kBFloat16, OperatorShape shape = shapeFor(128, 33),
                      const std::string& op = "rms_norm") {
        Validator validator(*m_operators.find(op), shape, dtype, m_device, 1);
        Result<CaseOutcome> outcome = validator.run(variant, caseName);
        EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
        return outcome ? *outcome : CaseOutcome{"no outcome", {}, {}, {}};
    }
    const Variant& variant(const std::string& op, const std::string& name) {
        const Variant* found = m_operators.find(op)->find(name);
        EXPECT_TRUE(found) << op << "=" << name;
        return *found;
    }
    void expectWrong(const Variant& kernel, std::string_view caseName, const std::string& because, at::ScalarType dtype = at::kBFloat16) {
        const CaseOutcome outcome = check(kernel, caseName, dtype);
        EXPECT_EQ(outcome.status, "wrong") << outcome.reason;
        EXPECT_NE(outcome.reason.find(because), std::string::npos) << outcome.reason;
    }

    OperatorTable m_operators = builtinOperators();
    Device m_device{at::Device(at::kCPU), {}};
};

TEST_F(ValidationTest, AnAllZeroResultIsCalledThat) { expectWrong(zeros(), "basic", "every element is 0"); }

TEST_F(ValidationTest, ACopyOfTheInputIsCalledThat) { expectWrong(copyOfInput(), "basic", "copy of the input x"); }

TEST_F(ValidationTest, CastingAfterTheWeightIsAnotherOrderAndNotOk) {
    for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
        const CaseOutcome outcome = check(castAfterWeight(), "rounding_order", dtype);
        EXPECT_EQ(outcome.status, "other_order") << outcome.reason;
        EXPECT_TRUE(outcome.mayBeTimed());
        EXPECT_NE(outcome.reason.find("rounding order"), std::string::npos) << outcome.reason;
    }
    EXPECT_EQ(check(castAfterWeight(), "rounding_order", at::kFloat).status, "ok") << "in float32 the two orders are one";
}

TEST_F(ValidationTest, WritingTheInputIsSeen) { expectWrong(inputWriter(), "input_unchanged", "wrote to its input x, first at 32:"); }

TEST_F(ValidationTest, WritingTheInputIsSeenInEveryCase) { expectWrong(inputWriter(), "basic", "wrote to its input x"); }

TEST_F(ValidationTest, WritingIntoThePaddingOfTheNeighbourRowIsSeen) { expectWrong(neighbourRowWriter(), "row_stride", "behind the end of row 0"); }

TEST_F(ValidationTest, OverwritingTheNeighbourRowItselfIsSeen) { expectWrong(neighbourRowWriter(), "basic", "from the native sequence"); }

TEST_F(ValidationTest, WritingBehindTheBufferIsSeen) { expectWrong(outOfBounds(), "basic", "behind the last row"); }

TEST_F(ValidationTest, ATruncatingCastLeansTowardsZero) {
    expectWrong(truncatingCast(), "basic", "lean towards zero", at::kBFloat16);
    expectWrong(truncatingCast(), "basic", "lean towards zero", at::kHalf);
}

TEST_F(ValidationTest, ANaNOnOverflowIsSeenWhereSquaresOverflow) {
    EXPECT_EQ(check(nanOnOverflow(), "basic", at::kHalf).status, "ok");
    expectWrong(nanOnOverflow(), "overflow", "NaN or infinity where the native sequence", at::kHalf);
}

TEST_F(ValidationTest, ARowLeftUnwrittenIsNamed) { expectWrong(oneRowShort(), "basic", "unwritten, the first at 32:0"); }

TEST_F(ValidationTest, AKernelRightAtOneHiddenSizeFailsAtTheOthers) {
    EXPECT_EQ(check(rightAtOneSize(128), "basic").status, "ok");
    EXPECT_EQ(check(rightAtOneSize(128), "basic", at::kBFloat16, shapeFor(96, 33)).status, "wrong");
}

TEST_F(ValidationTest, ARefusalIsNotAMistake) {
    Variant picky = zeros();
    picky.run = [](const Operands&) -> Result<Tensors> { return makeError(ErrorCode::usage, "hidden must be a multiple of 1000"); };
    const CaseOutcome outcome = check(picky, "basic");
    EXPECT_EQ(outcome.status, "refused");
    EXPECT_EQ(outcome.reason, "hidden must be a multiple of 1000");
    EXPECT_FALSE(outcome.mayBeTimed());
}

TEST_F(ValidationTest, StreamsAndGraphsAreSkippedOnACpuWithTheReason) {
    for (const char* name : {"side_stream", "graph"}) {
        const CaseOutcome outcome = check(variant("rms_norm", "native"), name);
        EXPECT_EQ(outcome.status, "skipped");
        EXPECT_NE(outcome.reason.find("CUDA"), std::string::npos);
    }
}

TEST_F(ValidationTest, TheNativeSequenceIsItsOwnReference) {
    const CaseOutcome outcome = check(variant("rms_norm", "native"), "basic");
    EXPECT_EQ(outcome.status, "ok");
    ASSERT_TRUE(outcome.stats);
    EXPECT_EQ(outcome.stats->maxUlpFromNative, 0);
    EXPECT_EQ(outcome.stats->maxAbs, outcome.stats->nativeMaxAbs);
    EXPECT_GT(outcome.stats->maxUlp, 0.5) << "two roundings against float64";
}

TEST_F(ValidationTest, LastStrideOtherThanOneIsHandledOrRefusedNeverMisread) {
    EXPECT_EQ(check(variant("rms_norm", "native"), "last_stride").status, "ok");
    const CaseOutcome fused = check(variant("rms_norm", "fused"), "last_stride");
    EXPECT_EQ(fused.status, "refused");
    EXPECT_NE(fused.reason.find("side by side"), std::string::npos) << fused.reason;
}

struct Shape {
    const char* op;
    std::int64_t hidden, rows;
};

class EveryVariant : public ValidationTest, public testing::WithParamInterface<Shape> {};

TEST_P(EveryVariant, PassesEveryCaseInEveryType) {
    const Shape at = GetParam();
    const Operator& op = *m_operators.find(at.op);
    for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
        Validator validator(op, shapeFor(at.hidden, at.rows), dtype, m_device, 3);
        for (const CaseInfo& info : validationCases()) {
            for (const Variant& each : op.variants()) {
                if (!each.supports(at::kCPU)) continue;
                const Result<CaseOutcome> outcome = validator.run(each, info.name);
                ASSERT_TRUE(outcome) << outcome.error().message;
                std::vector<std::string> allowed{"ok"};
                if (info.name == "last_stride" || outcome->reason.find("CUDA") != std::string::npos || each.ownOutputs) {
                    allowed.insert(allowed.end(), {"refused", "skipped"});
                }
                if (!each.roundsLikeNative && dtype != at::kFloat) allowed.emplace_back("other_order");
                EXPECT_TRUE(std::find(allowed.begin(), allowed.end(), outcome->status) != allowed.end())
                    << op.name() << "=" << each.name << " " << info.name << " " << dtypeName(dtype) << ": " << outcome->status << ": " << outcome->reason;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SmallAndAwkward, EveryVariant,
                         testing::Values(Shape{"rms_norm", 896, 7}, Shape{"rms_norm", 769, 33}, Shape{"rms_norm", 1, 2}, Shape{"rms_norm", 3584, 2},
                                         Shape{"add_rms_norm", 896, 7}, Shape{"add_rms_norm", 769, 33}, Shape{"add_rms_norm", 3584, 2}, Shape{"silu_mul", 112, 7},
                                         Shape{"silu_mul", 77, 33}, Shape{"rope", 896, 7}, Shape{"rope", 112, 33}, Shape{"rope", 3584, 1}),
                         [](const auto& info) { return std::string(info.param.op) + "_" + std::to_string(info.param.hidden) + "x" + std::to_string(info.param.rows); });

}  // namespace
}  // namespace kernelscope::test
