// Patching a running model: the words of the option, which variant ran, and that a wrong one is not silently right.

#include <gtest/gtest.h>

#include "core/ops/patch.h"
#include "tests/measure/wrong_kernels.h"
#include "tests/model/model_fixtures.h"

namespace kernelscope::test {
namespace {

Error errorOf(std::string_view text) {
    const OperatorTable operators = builtinOperators();
    const Result<Patch> patch = makePatchTable(text, operators, at::kCPU);
    EXPECT_FALSE(patch);
    return patch ? Error{} : patch.error();
}

TEST(PatchText, IsOperatorsAndVariantsAndNothingElse) {
    const auto parsed = parsePatch(" rms_norm=fused , silu_mul=native");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, (std::vector<PatchChoice>{{"rms_norm", "fused"}, {"silu_mul", "native"}}));
    EXPECT_EQ(patchText(*parsed), "rms_norm=fused,silu_mul=native");
    ASSERT_TRUE(parsePatch(""));
    EXPECT_TRUE(parsePatch("")->empty());
    for (const char* text : {"rms_norm", "rms_norm=", "=fused", "rms_norm=fused,", ",", "rms_norm=fused,rms_norm=native"}) {
        const auto wrong = parsePatch(text);
        ASSERT_FALSE(wrong) << text;
        EXPECT_EQ(wrong.error().code, ErrorCode::usage);
    }
}

TEST(PatchText, AnUnknownNameIsAnsweredWithTheKnownOnes) {
    const Error op = errorOf("rmsnorm=fused");
    EXPECT_NE(op.message.find("rmsnorm"), std::string::npos);
    EXPECT_NE(op.advice.find("rms_norm"), std::string::npos);
    const Error variant = errorOf("rms_norm=fast");
    EXPECT_EQ(variant.code, ErrorCode::usage);
    EXPECT_NE(variant.message.find("fast"), std::string::npos);
    EXPECT_NE(variant.advice.find("fused"), std::string::npos);
}

at::Tensor logits(Qwen2Model& model, const PatchTable& table, std::int64_t batch, std::int64_t tokens) {
    model.setPatchTable(table);
    KvCache cache = model.makeCache(batch, tokens + 1);
    const at::Tensor first = model.forward(someTokens(batch, tokens, model.config().vocabSize), cache, /*lastOnly=*/false);
    const at::Tensor second = model.forward(someTokens(batch, 1, model.config().vocabSize, 5), cache);
    return at::cat({first, second}, 1);
}

class PatchedModel : public testing::TestWithParam<std::string> {};

TEST_P(PatchedModel, SaysTheSameWithAFusedOperatorForOneRowAndForMany) {
    const OperatorTable operators = builtinOperators();
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        auto model = randomModel(smallConfig(4, 2, 16, 3), dtype);
        for (const auto& [batch, tokens] : {std::pair{1, 1}, {1, 6}, {3, 5}}) {
            const at::Tensor native = logits(*model, nativePatchTable(), batch, tokens);
            Result<Patch> patch = makePatchTable(GetParam(), operators, at::kCPU);
            ASSERT_TRUE(patch);
            const at::Tensor patched = logits(*model, patch->table, batch, tokens);
            EXPECT_LT(relativeError(patched.to(at::kFloat), native.to(at::kFloat)), dtype == at::kFloat ? 1e-5 : 0.03) << GetParam() << " " << batch << " x " << tokens;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, PatchedModel,
                         testing::Values("rms_norm=fused", "rms_norm=aten", "add_rms_norm=fused", "add_rms_norm=aten", "silu_mul=fused", "rope=fused", "rope=native",
                                         "rms_norm=fused,add_rms_norm=fused,silu_mul=fused,rope=fused"));

TEST(Patching, CountersProveWhichVariantRan) {
    const OperatorTable operators = builtinOperators();
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    Result<Patch> patch = makePatchTable("rms_norm=fused,silu_mul=fused,rope=fused", operators, at::kCPU);
    ASSERT_TRUE(patch);
    (void)logits(*model, patch->table, 1, 4);
    EXPECT_EQ(patch->counts->of("rms_norm", "fused"), 2 * (2 * 3 + 1)) << "two passes, two norms a layer and the last";
    EXPECT_EQ(patch->counts->of("silu_mul", "fused"), 2 * 3);
    EXPECT_EQ(patch->counts->of("rope", "fused"), 2 * 3);
    EXPECT_EQ(patch->counts->of("add_rms_norm", "fused"), 0);

    patch->counts->reset();
    (void)logits(*model, nativePatchTable(), 1, 4);
    EXPECT_EQ(patch->counts->of("rms_norm", "fused"), 0) << "and back: the native table calls nothing of it";
}

TEST(Patching, AddAndNormTogetherTakeAllNormsButTheFirst) {
    const OperatorTable operators = builtinOperators();
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    Result<Patch> patch = makePatchTable("rms_norm=fused,add_rms_norm=fused", operators, at::kCPU);
    ASSERT_TRUE(patch);
    (void)logits(*model, patch->table, 1, 4);
    EXPECT_EQ(patch->counts->of("rms_norm", "fused"), 2 * 1);
    EXPECT_EQ(patch->counts->of("add_rms_norm", "fused"), 2 * 2 * 3);
}

TEST(Patching, AWrongVariantChangesTheLogits) {
    OperatorTable operators = builtinOperators();
    for (const Variant& wrong : {zeros(), copyOfInput(), rightAtOneSize(17)}) operators.find("rms_norm")->add(wrong);
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    const at::Tensor native = logits(*model, nativePatchTable(), 1, 4);
    for (const char* name : {"zeros", "copy", "one_size"}) {
        Result<Patch> patch = makePatchTable({{"rms_norm", name}}, operators, at::kCPU);
        ASSERT_TRUE(patch);
        EXPECT_GT(relativeError(logits(*model, patch->table, 1, 4), native), 1e-2) << name;
    }
}

TEST(Patching, ARefusalInsideThePassIsAnErrorInWords) {
    OperatorTable operators = builtinOperators();
    Variant picky = zeros();
    picky.name = "picky";
    picky.run = [](const Operands&) -> Result<Tensors> { return makeError(ErrorCode::usage, "only on Sundays"); };
    operators.find("silu_mul")->add(picky);
    auto model = randomModel(smallConfig(4, 2, 16, 1));
    Result<Patch> patch = makePatchTable({{"silu_mul", "picky"}}, operators, at::kCPU);
    ASSERT_TRUE(patch);
    try {
        (void)logits(*model, patch->table, 1, 2);
        FAIL() << "nothing was thrown";
    } catch (const c10::Error& error) {
        EXPECT_NE(std::string(error.what()).find("only on Sundays"), std::string::npos);
    }
}

TEST(RopePatch, GivesTheSameWhateverTheLayoutInMemory) {
    const OperatorTable operators = builtinOperators();
    Result<Patch> patch = makePatchTable("rope=fused", operators, at::kCPU);
    ASSERT_TRUE(patch);
    const PatchTable native = nativePatchTable();
    const std::int64_t heads = 6, kvHeads = 2, headDim = 16;
    for (const std::int64_t batch : {1, 2}) {
        for (const std::int64_t tokens : {1, 5}) {
            const at::Tensor angles = at::rand({tokens, headDim / 2});
            const at::Tensor both = at::cat({angles, angles}, -1);
            const at::Tensor cos = both.cos(), sin = both.sin();
            // As the projections write them; one behind the other in one fused projection; heads first; and every second token.
            const auto asProjected = [&](std::int64_t count) { return at::randn({batch, tokens, count, headDim}).transpose(1, 2); };
            const at::Tensor fusedProjection = at::randn({batch, tokens, heads + 2 * kvHeads, headDim});
            const std::vector<std::pair<at::Tensor, at::Tensor>> layouts{
                {asProjected(heads), asProjected(kvHeads)},
                {fusedProjection.narrow(2, 0, heads).transpose(1, 2), fusedProjection.narrow(2, heads, kvHeads).transpose(1, 2)},
                {at::randn({batch, heads, tokens, headDim}), at::randn({batch, kvHeads, tokens, headDim})},
                {at::randn({batch, 2 * tokens, heads, headDim}).slice(1, 0, 2 * tokens, 2).transpose(1, 2), asProjected(kvHeads)},
            };
            for (const auto& [q, k] : layouts) {
                const auto expected = native.rope(q, k, cos, sin);
                const auto rotated = patch->table.rope(q, k, cos, sin);  // may change q and k
                EXPECT_TRUE(at::allclose(rotated.first, expected.first, 1e-6, 1e-6));
                EXPECT_TRUE(at::allclose(rotated.second, expected.second, 1e-6, 1e-6));
                EXPECT_EQ(rotated.first.sizes(), q.sizes());
            }
        }
    }
}

}  // namespace
}  // namespace kernelscope::test
