// The two ways to compare agree, and figures mean what they say.

#include <gtest/gtest.h>

#include <limits>

#include <ATen/ATen.h>

#include "core/measure/error_stats.h"
#include "core/measure/guarded_buffer.h"
#include "core/measure/judge.h"
#include "core/ops/examples.h"

namespace kernelscope::test {
namespace {

Compared example(at::ScalarType dtype) {
    Compared t;
    t.exact = bellShaped({40, 50}, at::kDouble, 1, 0).view({-1});
    t.native = t.exact.to(dtype);
    t.value = (t.exact * (1 + 1e-3 * bellShaped({2000}, at::kDouble, 2, 0))).to(dtype);
    t.other = (t.exact * 1.001).to(dtype);
    t.magnitude = t.exact.abs() * 1.5;
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    t.value[7] = nan;
    t.native[7] = nan;  // agree
    t.value[11] = infinity;  // disagree
    t.native[13] = -infinity;
    t.first = 100;
    return t;
}

TEST(ErrorStats, TheLoopAndTheTensorFormAgree) {
    for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
        const Compared t = example(dtype);
        const ErrorStats a = compareByLoop(t), b = compareByTensors(t);
        EXPECT_EQ(a.elements, b.elements);
        EXPECT_EQ(a.nonfinite, b.nonfinite);
        EXPECT_EQ(a.nonfinite, 3);
        EXPECT_EQ(a.disagree, 2);
        EXPECT_EQ(b.disagree, 2);
        EXPECT_EQ(a.firstDisagreement, 111);
        EXPECT_EQ(b.firstDisagreement, 111);
        EXPECT_EQ(a.worst, b.worst);
        EXPECT_EQ(a.worstFromNative, b.worstFromNative);
        EXPECT_EQ(a.differFromNative, b.differFromNative);
        EXPECT_EQ(a.differFromOther, b.differFromOther);
        EXPECT_EQ(a.ordersDiffer, b.ordersDiffer);
        EXPECT_EQ(a.beyondOneUlpOfNative, b.beyondOneUlpOfNative);
        EXPECT_EQ(a.beyondOneUlpOfOther, b.beyondOneUlpOfOther);
        EXPECT_DOUBLE_EQ(a.maxAbs, b.maxAbs);
        EXPECT_DOUBLE_EQ(a.maxUlp, b.maxUlp);
        EXPECT_DOUBLE_EQ(a.maxUlpFromNative, b.maxUlpFromNative);
        EXPECT_DOUBLE_EQ(a.maxUlpFromOther, b.maxUlpFromOther);
        EXPECT_NEAR(a.signedSum, b.signedSum, 1e-9);
        EXPECT_NEAR(a.leanUlp, b.leanUlp, 1e-6 * (1 + std::abs(a.leanUlp)));
    }
}

TEST(ErrorStats, OneStepOfTheTypeIsOneUlp) {
    Compared t;
    t.exact = at::full({4}, 1.25, at::kDouble);
    t.native = t.other = t.exact.to(at::kBFloat16);
    t.value = t.native.clone();
    t.value.view(at::kShort)[2] += 1;
    const ErrorStats stats = compareByLoop(t);
    EXPECT_EQ(stats.maxUlpFromNative, 1);
    EXPECT_EQ(stats.worst, 2);
    EXPECT_EQ(stats.differFromNative, 1);
    EXPECT_EQ(stats.beyondOneUlpOfNative, 0);
}

TEST(ErrorStats, HalvesAddUpToTheWhole) {
    const Compared t = example(at::kHalf);
    const auto part = [&](std::int64_t begin, std::int64_t count) {
        const auto cut = [&](const at::Tensor& tensor) { return tensor.narrow(0, begin, count); };
        return compareByLoop({cut(t.value), cut(t.native), cut(t.other), cut(t.exact), cut(t.magnitude), t.first + begin});
    };
    ErrorStats sum = part(0, 900);
    sum.add(part(900, 1100));
    const ErrorStats whole = compareByLoop(t);
    EXPECT_EQ(sum.elements, whole.elements);
    EXPECT_EQ(sum.worst, whole.worst);
    EXPECT_EQ(sum.disagree, whole.disagree);
    EXPECT_DOUBLE_EQ(sum.maxUlp, whole.maxUlp);
}

TEST(Judge, MoreThanOneUlpInFewElementsPassesAndInManyFails) {
    ErrorStats stats;
    stats.elements = 100'000;
    stats.maxUlpFromNative = 2;
    stats.beyondOneUlpOfNative = 90;
    EXPECT_EQ(judge(stats, at::kHalf, 100).status, "ok");
    stats.beyondOneUlpOfNative = 200;
    EXPECT_EQ(judge(stats, at::kHalf, 100).status, "wrong");
    EXPECT_EQ(judge(stats, at::kFloat, 100).status, "ok") << "float32 may be off by eight";
    stats.maxUlpFromNative = 8.5;
    EXPECT_EQ(judge(stats, at::kFloat, 100).status, "wrong");
}

TEST(Judge, ALeanIsOneAgainstTheNativeSequenceAndAgainstFloat64) {
    ErrorStats stats;
    stats.elements = 100'000;
    stats.maxUlpFromNative = 1;
    stats.leanUlp = -0.5e5;
    EXPECT_EQ(judge(stats, at::kHalf, 100).status, "wrong");
    EXPECT_NE(judge(stats, at::kHalf, 100).reason.find("lean towards zero by 0.50 ULP"), std::string::npos) << judge(stats, at::kHalf, 100).reason;
    stats.nativeLeanUlp = -0.45e5;
    EXPECT_EQ(judge(stats, at::kHalf, 100).status, "ok") << "the native sequence leans as much";
    stats.leanUlp = 0.01e5;
    EXPECT_EQ(judge(stats, at::kHalf, 100).status, "ok") << "the variant does not lean at all";
}

TEST(GuardedBuffer, SeesWritesBeforeBehindAndBetweenRowsAndNothingElse) {
    for (const Layout& layout : {Layout{}, Layout{1, 3}, Layout{0, 64}}) {
        const at::Tensor content = bellShaped({5, 17}, at::kHalf, 1, 0);
        GuardedBuffer buffer(content, layout);
        EXPECT_FALSE(buffer.damage());
        EXPECT_FALSE(buffer.changedSince(content));
        buffer.view().mul_(2);
        EXPECT_FALSE(buffer.damage());
        EXPECT_EQ(buffer.changedSince(content), "0:0");
        const std::int64_t begin = buffer.view().storage_offset();
        buffer.view().as_strided({1}, {1}, begin - 1).zero_();
        ASSERT_TRUE(buffer.damage());
        EXPECT_NE(buffer.damage()->find("before the first row, the first 1 away"), std::string::npos) << *buffer.damage();
    }
    GuardedBuffer result({3, 8}, at::TensorOptions().dtype(at::kFloat), Layout{0, 2});
    EXPECT_EQ(result.unwritten().count, 24);
    result.view().narrow(0, 0, 2).zero_();
    EXPECT_EQ(result.unwritten().count, 8);
    EXPECT_EQ(result.unwritten().first, "2:0");
    result.view().as_strided({1}, {1}, result.view().storage_offset() + 10 + 9).zero_();
    ASSERT_TRUE(result.damage());
    EXPECT_NE(result.damage()->find("2 elements behind the end of row 1"), std::string::npos) << *result.damage();
}

}  // namespace
}  // namespace kernelscope::test
