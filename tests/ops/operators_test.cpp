// The operators: what the list holds, and that the parts of each fit together.

#include <gtest/gtest.h>

#include <set>

#include <ATen/ATen.h>

#include "core/ops/operator.h"
#include "core/ops/test_variants.h"

namespace kernelscope::test {
namespace {

TEST(Operators, TheListHasTheFirstFourEachWithNativeAndFused) {
    const OperatorTable table = builtinOperators();
    EXPECT_EQ(table.names(), "rms_norm, add_rms_norm, silu_mul, rope");
    for (const auto& op : table.all()) {
        ASSERT_NE(op->find("native"), nullptr) << op->name();
        const Variant* fused = op->find("fused");
        ASSERT_NE(fused, nullptr) << op->name();
        EXPECT_TRUE(fused->supports(at::kCPU)) << op->name();
        std::set<std::string> names;
        for (const Variant& variant : op->variants()) EXPECT_TRUE(names.insert(variant.name).second) << op->name() << " has " << variant.name << " twice";
    }
    EXPECT_NE(table.find("rms_norm")->find("aten"), nullptr);
    EXPECT_EQ(table.find("rmsnorm"), nullptr);
}

TEST(Operators, ExamplesAreAFunctionOfTheirArguments) {
    const OperatorTable table = builtinOperators();
    for (const auto& op : table.all()) {
        const OperatorShape shape = shapeFor(112, 5);
        const Operands a = op->example(shape, at::kHalf, 7, Content::ordinary), b = op->example(shape, at::kHalf, 7, Content::ordinary);
        const Operands other = op->example(shape, at::kHalf, 8, Content::ordinary);
        ASSERT_EQ(a.inputs.size(), op->inputs().size()) << op->name();
        for (std::size_t i = 0; i < a.inputs.size(); ++i) EXPECT_TRUE(at::equal(a.inputs[i], b.inputs[i])) << op->name() << " " << op->inputs()[i].name;
        EXPECT_FALSE(at::equal(a.inputs[0], other.inputs[0])) << op->name();
    }
}

TEST(Operators, ResultsHaveTheShapesOfTheFirstInputs) {
    const OperatorTable table = builtinOperators();
    for (const auto& op : table.all()) {
        for (const std::int64_t rows : {0, 1, 9}) {
            const Operands operands = op->example(shapeFor(128, rows), at::kBFloat16, 1, Content::ordinary);
            for (const Tensors& results : {op->native(operands), op->otherOrder(operands), op->exact(operands).values}) {
                ASSERT_EQ(results.size(), op->outputs().size());
                for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].sizes(), operands.inputs[i].sizes()) << op->name();
            }
        }
    }
}

TEST(Operators, TheOtherOrderIsAnotherFunctionIn16BitTypes) {
    const OperatorTable table = builtinOperators();
    for (const auto& op : table.all()) {
        const Operands operands = op->example(shapeFor(896, 16), at::kBFloat16, 1, Content::ordinary);
        const at::Tensor native = op->native(operands)[0], other = op->otherOrder(operands)[0];
        EXPECT_GT((native != other).sum().item<std::int64_t>(), native.numel() / 20) << op->name();
    }
}

TEST(Operators, BytesCountEveryOperandOnce) {
    const OperatorTable table = builtinOperators();
    EXPECT_EQ(table.find("rms_norm")->work(shapeFor(896, 10), at::kHalf).bytes, 2 * (2 * 10 * 896 + 896));
    EXPECT_EQ(table.find("add_rms_norm")->work(shapeFor(896, 10), at::kFloat).bytes, 4 * (4 * 10 * 896 + 896));
    EXPECT_EQ(table.find("silu_mul")->work(shapeFor(896, 10), at::kHalf).bytes, 2 * 3 * 10 * 4864);
    EXPECT_EQ(table.find("rope")->work(shapeFor(896, 10), at::kHalf).bytes, 2 * 2 * 10 * 16 * 64 + 10 * 2 * 4 * 64 + 10 * 8);
}

TEST(Operators, ShapesAreThoseOfTheModelOfThatHiddenSizeOrMadeUp) {
    const OperatorShape known = shapeFor(3584, 2);
    EXPECT_EQ(known.width, 18944);
    EXPECT_EQ(known.heads, 28);
    EXPECT_EQ(known.kvHeads, 4);
    EXPECT_EQ(known.headDim, 128);
    const OperatorShape odd = shapeFor(769, 2);
    EXPECT_EQ(odd.width, 4 * 769);
    EXPECT_EQ(odd.headDim, 64);
    EXPECT_EQ(odd.heads, 12);
}

TEST(Operators, AKernelOfAnotherOperatorIsRefusedInWords) {
    const OperatorTable table = builtinOperators();
    const KernelEntry entry{KernelDevice::cpu, "rms_norm", "mine", "", &ks_cpu_silu_mul};
    const Result<Variant> made = table.find("rms_norm")->fromKernel(entry);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::usage);
    const KernelEntry right{KernelDevice::cpu, "silu_mul", "mine", "", &ks_cpu_silu_mul};
    EXPECT_TRUE(table.find("silu_mul")->fromKernel(right));
}

TEST(Operators, MisbehavingVariantsExistOnlyWhereTheEnvironmentAsksForThem) {
    OperatorTable table = builtinOperators();
    ASSERT_EQ(std::getenv("KERNELSCOPE_TEST_VARIANTS"), nullptr);
    addTestVariants(table);
    EXPECT_EQ(table.find("rms_norm")->find("test_crash"), nullptr);
}

}  // namespace
}  // namespace kernelscope::test
