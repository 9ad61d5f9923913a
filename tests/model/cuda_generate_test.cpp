// What only a CUDA device can show: graph mode, and that one number a token comes back to the host.

#include <gtest/gtest.h>

#include <ATen/record_function.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "core/model/generate.h"
#include "core/model/graph_decode.h"
#include "tests/model/model_fixtures.h"

namespace kernelscope::test {
namespace {

class CudaGenerate : public testing::Test {
protected:
    void SetUp() override {
        if (!haveCuda()) GTEST_SKIP() << "no CUDA device here";
    }
    const at::Device m_cuda{at::kCUDA, 0};
};

GenerateOptions forced(std::vector<std::int64_t> prompt, std::int64_t newTokens) {
    GenerateOptions options;
    options.promptIds = std::move(prompt);
    options.newTokens = newTokens;
    options.ignoreEos = true;
    return options;
}

}  // namespace

TEST_F(CudaGenerate, GraphModeGivesTheReferencesGreedyTokensAndLogits) {
    for (const std::string& name : kReferenceNames) {
        const Reference expected = reference(name);
        auto model = loadModel(expected.folder, m_cuda);
        ASSERT_TRUE(model);
        Result<Generator> generator = Generator::create(*model, 1, 100);
        ASSERT_TRUE(generator);
        Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
        ASSERT_TRUE(step) << step.error().message;
        generator->setDecodeStep(std::move(step).value());
        GenerateOptions options = forced(expected.promptIds, static_cast<std::int64_t>(expected.greedyIds.size()));
        options.captureLogits = true;
        for (int run = 0; run < 2; ++run) {  // a graph serves any number of texts
            const Result<GenerateResult> result = generator->run(options);
            ASSERT_TRUE(result) << result.error().message;
            EXPECT_EQ(result->tokenIds, expected.greedyIds) << name;
            EXPECT_LE(relativeError(result->logits, expected.stepLogits), 2e-4) << name;
        }
    }
}

TEST_F(CudaGenerate, GraphModeAgreesWithEagerInEveryTypeBatchAndGroup) {
    for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
        for (const std::int64_t group : {5, 7}) {
            auto model = randomModel(smallConfig(2 * group, 2, 64), dtype, 5, m_cuda);
            ASSERT_TRUE(model);
            Result<Generator> generator = Generator::create(*model, 3, 120);
            ASSERT_TRUE(generator);
            GenerateOptions options = forced({4, 8, 15, 16, 23, 42}, 20);
            options.captureLogits = true;
            const Result<GenerateResult> eager = generator->run(options);
            ASSERT_TRUE(eager);
            Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
            ASSERT_TRUE(step) << step.error().message;
            generator->setDecodeStep(std::move(step).value());
            const Result<GenerateResult> graph = generator->run(options);
            ASSERT_TRUE(graph);
            // Up to the first token that differs, which two roundings may part, the logits agree.
            const double tolerance = dtype == at::kFloat ? 2e-5 : dtype == at::kHalf ? 4 * 0x1p-10 : 4 * 0x1p-7;
            std::int64_t same = 0;
            while (same < 20 && eager->tokenIds[static_cast<std::size_t>(same)] == graph->tokenIds[static_cast<std::size_t>(same)]) ++same;
            const std::int64_t rows = std::min<std::int64_t>(same + 1, 20);
            EXPECT_LE(relativeError(graph->logits.narrow(0, 0, rows), eager->logits.narrow(0, 0, rows)), tolerance);
            EXPECT_GE(same, dtype == at::kFloat ? 20 : 1);
        }
    }
}

TEST_F(CudaGenerate, GraphModeSamplesTheTextOfEagerMode) {
    auto model = randomModel(smallConfig(8, 2), at::kFloat, 5, m_cuda);
    ASSERT_TRUE(model);
    Result<Generator> generator = Generator::create(*model, 1, 60);
    ASSERT_TRUE(generator);
    GenerateOptions options = forced({4, 8, 15}, 30);
    options.sampling = {.temperature = 1, .topP = 0.9, .seed = 4};
    const Result<GenerateResult> eager = generator->run(options);
    ASSERT_TRUE(eager);
    Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
    ASSERT_TRUE(step) << step.error().message;
    generator->setDecodeStep(std::move(step).value());
    const Result<GenerateResult> graph = generator->run(options);
    ASSERT_TRUE(graph);
    EXPECT_EQ(graph->tokenIds, eager->tokenIds);
}

TEST_F(CudaGenerate, StepsThatRunAheadGiveTheTokensOfEagerModeInOrder) {
    auto model = randomModel(smallConfig(8, 2), at::kFloat, 5, m_cuda);
    ASSERT_TRUE(model);
    Result<Generator> generator = Generator::create(*model, 2, 60);
    ASSERT_TRUE(generator);
    for (const std::int64_t newTokens : {1, 2, 3, 40}) {
        GenerateOptions options = forced({4, 8, 15}, newTokens);
        generator->setDecodeStep(nullptr);
        const Result<GenerateResult> eager = generator->run(options);
        ASSERT_TRUE(eager);
        Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
        ASSERT_TRUE(step) << step.error().message;
        generator->setDecodeStep(std::move(step).value());
        std::vector<std::int64_t> seen;
        options.onToken = [&](const GeneratedToken& token) {
            EXPECT_EQ(token.position, 3 + static_cast<std::int64_t>(seen.size()));
            seen.push_back(token.id);
        };
        const Result<GenerateResult> graph = generator->run(options);
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(graph->tokenIds, eager->tokenIds);
        EXPECT_EQ(seen, eager->tokenIds);
        EXPECT_EQ(graph->stepMs.size(), static_cast<std::size_t>(newTokens - 1));
        EXPECT_GE(graph->outsideForwardMs, 0);
        EXPECT_LT(graph->outsideForwardMs, graph->totalMs);
        EXPECT_EQ(generator->cache().length(), 3 + newTokens - 1);
    }
}

TEST_F(CudaGenerate, StepsThatRunAheadEndWhenAskedToWithTheTokensThatAreHome) {
    auto model = randomModel(smallConfig(8, 2), at::kFloat, 5, m_cuda);
    ASSERT_TRUE(model);
    Result<Generator> generator = Generator::create(*model, 1, 60);
    ASSERT_TRUE(generator);
    Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
    ASSERT_TRUE(step) << step.error().message;
    generator->setDecodeStep(std::move(step).value());
    GenerateOptions options = forced({4, 8, 15}, 40);
    std::stop_source stop;
    options.stop = stop.get_token();
    options.onToken = [&](const GeneratedToken& token) {
        if (token.position == 3 + 9) stop.request_stop();
    };
    const Result<GenerateResult> result = generator->run(options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->finish, FinishReason::cancelled);
    EXPECT_EQ(result->tokenIds.size(), 10U);
}

TEST_F(CudaGenerate, CopiesOneTokenAStepToTheHostAndAsksTheDeviceForNoMemory) {
    auto model = randomModel(smallConfig(8, 2), at::kHalf, 5, m_cuda);
    ASSERT_TRUE(model);
    for (const bool graph : {false, true}) {
        Result<Generator> generator = Generator::create(*model, 1, 60);
        ASSERT_TRUE(generator);
        if (graph) {
            Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
            ASSERT_TRUE(step) << step.error().message;
            generator->setDecodeStep(std::move(step).value());
        }
        const GenerateOptions options = forced({4, 8, 15}, 30);
        ASSERT_TRUE(generator->run(options));  // the allocator has now seen every size

        static int toHost, scalars;  // a recording callback takes no context
        toHost = scalars = 0;
        const auto count = [](const at::RecordFunction& fn) -> std::unique_ptr<at::ObserverContext> {
            const std::string_view name = fn.name();
            if (name == "aten::_local_scalar_dense") ++scalars;
            if (name == "aten::copy_" && fn.inputs()[0].toTensor().is_cpu() && fn.inputs()[1].toTensor().is_cuda()) ++toHost;
            return nullptr;
        };
        const std::int64_t allocations = c10::getDeviceAllocator(at::kCUDA)->getDeviceStats(0).num_device_alloc;
        const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(count).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
        const Result<GenerateResult> result = generator->run(options);
        at::removeCallback(handle);
        ASSERT_TRUE(result);
        EXPECT_EQ(toHost, 30) << (graph ? "graph" : "eager");
        EXPECT_EQ(scalars, 0);
        EXPECT_EQ(c10::getDeviceAllocator(at::kCUDA)->getDeviceStats(0).num_device_alloc, allocations);
    }
}

TEST_F(CudaGenerate, RandomWeightsAreThoseOfTheCpu) {
    auto onCpu = randomModel(smallConfig(4, 2), at::kHalf, 9);
    auto onCuda = randomModel(smallConfig(4, 2), at::kHalf, 9, m_cuda);
    ASSERT_TRUE(onCpu && onCuda);
    for (std::size_t i = 0; i < onCpu->namedTensors().size(); ++i) {
        EXPECT_TRUE(at::equal(onCuda->namedTensors()[i].second.cpu(), onCpu->namedTensors()[i].second));
    }
}

TEST_F(CudaGenerate, PrintsHowLongAStepOfHalfABillionParametersTakes) {
    const Preset* preset = findPreset("qwen2.5-0.5b");
    ASSERT_NE(preset, nullptr);
    auto model = randomModel(preset->config, at::kHalf, 0, m_cuda);
    ASSERT_TRUE(model);
    Result<Generator> generator = Generator::create(*model, 1, 90);
    ASSERT_TRUE(generator);
    std::vector<std::int64_t> prompt(32);
    for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<std::int64_t>(100 + 7 * i);
    for (const bool graph : {false, true}) {
        if (graph) {
            Result<std::unique_ptr<DecodeStep>> step = captureDecodeStep(*generator);
            ASSERT_TRUE(step) << step.error().message;
            generator->setDecodeStep(std::move(step).value());
        }
        Result<GenerateResult> result = generator->run(forced(prompt, 50));
        for (int i = 0; i < 3; ++i) result = generator->run(forced(prompt, 50));
        ASSERT_TRUE(result) << result.error().message;
        std::printf("%s: first token %.2f ms, %.3f ms a token, %.0f tokens/s, outside the forward pass %.2f of %.2f ms\n",
                    graph ? "graph" : "eager", result->ttftMs, result->decodeMsPerToken, result->decodeTokensPerSecond, result->outsideForwardMs,
                    result->totalMs);
        EXPECT_GT(result->outsideForwardMs, 0);
        EXPECT_LT(result->outsideForwardMs, 0.5 * result->totalMs);
    }
}

}  // namespace kernelscope::test
