// float32 against the reference implementation's logits, and every way to lay out the same tokens against each other.

#include "tests/model/on_device.h"

#include "core/model/generate.h"
#include "core/ops/patch.h"
#include "tests/model/plain_reference.h"

namespace kernelscope::test {
namespace {

constexpr double kReferenceTolerance = 2e-4;  // of the largest logit
constexpr double kSameMathTolerance = 2e-5;   // another order of the same float32 sums

std::vector<std::int64_t> firstRow(const at::Tensor& tokens) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < tokens.size(1); ++i) ids.push_back(tokens[0][i].item<std::int64_t>());
    return ids;
}

// Logits [batch, n, vocab], the prompt fed in pieces of the given lengths.
at::Tensor inPieces(Qwen2Model& model, const at::Tensor& tokens, const std::vector<std::int64_t>& lengths) {
    KvCache cache = model.makeCache(tokens.size(0), tokens.size(1));
    std::vector<at::Tensor> parts;
    std::int64_t at = 0;
    for (const std::int64_t length : lengths) {
        parts.push_back(model.forward(tokens.narrow(1, at, length), cache, /*lastOnly=*/false));
        at += length;
    }
    EXPECT_EQ(at, tokens.size(1));
    EXPECT_EQ(cache.length(), at);
    return at::cat(parts, 1);
}

}  // namespace

TEST_P(ReferenceOnDevice, PromptLogitsAreThoseOfTheReference) {
    const Reference expected = reference(what());
    auto model = loadModel(expected.folder, device());
    ASSERT_TRUE(model);
    KvCache cache = model->makeCache(1, 64);
    const at::Tensor tokens = at::tensor(expected.promptIds, at::kLong).unsqueeze(0).to(device());
    const at::Tensor logits = model->forward(tokens, cache, /*lastOnly=*/false);
    EXPECT_LE(relativeError(logits[0], expected.promptLogits), kReferenceTolerance);
}

TEST_P(ReferenceOnDevice, GreedyTokensAndTheirLogitsAreThoseOfTheReference) {
    const Reference expected = reference(what());
    auto model = loadModel(expected.folder, device());
    ASSERT_TRUE(model);
    GenerateOptions options;
    options.promptIds = expected.promptIds;
    options.newTokens = static_cast<std::int64_t>(expected.greedyIds.size());
    options.ignoreEos = true;
    options.captureLogits = true;
    const Result<GenerateResult> result = generate(*model, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->tokenIds, expected.greedyIds);
    EXPECT_LE(relativeError(result->logits, expected.stepLogits), kReferenceTolerance);
}

TEST_P(ReferenceOnDevice, DecodingTokenByTokenAgreesWithPrefill) {
    const Reference expected = reference(what());
    auto model = loadModel(expected.folder, device());
    ASSERT_TRUE(model);
    const at::Tensor tokens = at::tensor(expected.promptIds, at::kLong).unsqueeze(0).to(device());
    const at::Tensor whole = inPieces(*model, tokens, {tokens.size(1)});
    const at::Tensor single = inPieces(*model, tokens, std::vector<std::int64_t>(static_cast<std::size_t>(tokens.size(1)), 1));
    EXPECT_LE(relativeError(single, whole), kSameMathTolerance);
}

TEST_P(ReferenceOnDevice, PrefillInPiecesAgreesWithPrefillInOne) {
    const Reference expected = reference(what());
    auto model = loadModel(expected.folder, device());
    ASSERT_TRUE(model);
    const at::Tensor tokens = someTokens(3, 12, model->config().vocabSize, 5, device());
    const at::Tensor whole = inPieces(*model, tokens, {12});
    EXPECT_LE(relativeError(inPieces(*model, tokens, {5, 1, 4, 2}), whole), kSameMathTolerance);
}

TEST_P(ReferenceOnDevice, EachRowOfABatchIsWhatItWouldBeAlone) {
    const Reference expected = reference(what());
    auto model = loadModel(expected.folder, device());
    ASSERT_TRUE(model);
    const at::Tensor tokens = someTokens(4, 9, model->config().vocabSize, 6, device());
    const at::Tensor batch = inPieces(*model, tokens, {7, 1, 1});
    for (std::int64_t row = 0; row < 4; ++row) {
        const at::Tensor alone = inPieces(*model, tokens.narrow(0, row, 1), {7, 1, 1});
        EXPECT_LE(relativeError(batch.narrow(0, row, 1), alone), kSameMathTolerance) << "row " << row;
    }
}

TEST_P(ReferenceOnDevice, TheLastPositionAloneIsTheLastOfAll) {
    const Reference expected = reference(what());
    auto model = loadModel(expected.folder, device());
    ASSERT_TRUE(model);
    const at::Tensor tokens = someTokens(2, 6, model->config().vocabSize, 7, device());
    KvCache cache = model->makeCache(2, 6);
    const at::Tensor last = model->forward(tokens, cache);
    ASSERT_EQ(last.sizes(), (at::IntArrayRef{2, 1, model->config().vocabSize}));
    EXPECT_LE(relativeError(last, inPieces(*model, tokens, {6}).narrow(1, 5, 1)), kSameMathTolerance);
}

TEST_P(GroupsOnDevice, EveryLayoutAgreesWithFloat64) {
    const auto [group, dtype] = what();
    auto model = randomModel(smallConfig(2 * group, 2), dtype, 3, device());
    ASSERT_TRUE(model);
    const at::Tensor tokens = someTokens(1, 40, model->config().vocabSize, 8, device());
    const at::Tensor expected = plainLogits(*model, firstRow(tokens)).unsqueeze(0);
    // A 16-bit type rounds about ten times a layer; these weights keep the logits' largest error near four roundings.
    const double tolerance = dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 4 * 0x1p-10 : 4 * 0x1p-7;
    EXPECT_LE(relativeError(inPieces(*model, tokens, {40}), expected), tolerance);
    EXPECT_LE(relativeError(inPieces(*model, tokens, {37, 1, 1, 1}), expected), tolerance) << "decode";
    EXPECT_LE(relativeError(inPieces(*model, tokens, {17, 23}), expected), tolerance) << "prefill in pieces";
}

namespace {

// Single-token passes with their position on the device, against passes with it on the host.
void expectPositionOnDeviceAgrees(Qwen2Model& model, std::int64_t batch, at::Device device) {
    const at::ScalarType dtype = model.dtype();
    const at::Tensor tokens = someTokens(batch, 12, model.config().vocabSize, 9, device);
    const at::Tensor expected = inPieces(model, tokens, {8, 1, 1, 1, 1});

    KvCache cache = model.makeCache(batch, 30);  // positions beyond the text must not be seen
    (void)model.forward(tokens.narrow(1, 0, 8), cache);
    at::Tensor position = at::full({1}, 8, at::TensorOptions().dtype(at::kLong).device(device));
    const double tolerance = dtype == at::kFloat ? kSameMathTolerance : dtype == at::kHalf ? 2 * 0x1p-10 : 2 * 0x1p-7;
    for (std::int64_t i = 8; i < 12; ++i) {
        const at::Tensor logits = model.forwardAt(tokens.narrow(1, i, 1), cache, position);
        EXPECT_LE(relativeError(logits, expected.narrow(1, i, 1)), tolerance) << "position " << i << ", batch " << batch;
        position += 1;
    }
}

}  // namespace

TEST_P(GroupsOnDevice, APositionOnTheDeviceGivesTheSameAsOneOnTheHost) {
    const auto [group, dtype] = what();
    auto model = randomModel(smallConfig(2 * group, 2), dtype, 4, device());
    ASSERT_TRUE(model);
    for (const std::int64_t batch : {1, 3}) expectPositionOnDeviceAgrees(*model, batch, device());
}

TEST_P(GroupsOnDevice, SoItDoesWithEveryOperatorReplaced) {
    const auto [group, dtype] = what();
    auto model = randomModel(smallConfig(2 * group, 2), dtype, 4, device());
    ASSERT_TRUE(model);
    const OperatorTable operators = builtinOperators();
    const Result<Patch> patch = makePatchTable("rms_norm=fused,add_rms_norm=fused,silu_mul=fused,rope=fused", operators, device());
    ASSERT_TRUE(patch) << patch.error().message;
    model->setPatchTable(patch->table);
    for (const std::int64_t batch : {1, 3}) expectPositionOnDeviceAgrees(*model, batch, device());
}

}  // namespace kernelscope::test
