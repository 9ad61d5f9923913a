#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include <ATen/record_function.h>

#include "core/model/generate.h"
#include "core/model/npy.h"
#include "tests/model/model_fixtures.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope::test {
namespace {

GenerateOptions forced(std::int64_t newTokens, std::vector<std::int64_t> prompt = {5, 17, 33, 60, 2, 9}) {
    GenerateOptions options;
    options.promptIds = std::move(prompt);
    options.newTokens = newTokens;
    options.ignoreEos = true;
    return options;
}

std::vector<std::int64_t> idsOf(Qwen2Model& model, const GenerateOptions& options) {
    const Result<GenerateResult> result = generate(model, options);
    EXPECT_TRUE(result) << result.error().message;
    return result ? result->tokenIds : std::vector<std::int64_t>{};
}

}  // namespace

TEST(Generate, StopsAtAStopTokenUnlessToldToIgnoreIt) {
    auto model = randomModel(smallConfig(4, 2));
    const std::vector<std::int64_t> free = idsOf(*model, forced(12));
    ASSERT_EQ(free.size(), 12U);

    GenerateOptions options = forced(12);
    options.ignoreEos = false;
    options.stopIds = {free[4]};
    const Result<GenerateResult> stopped = generate(*model, options);
    ASSERT_TRUE(stopped);
    const auto firstHit = std::find(free.begin(), free.end(), free[4]);
    EXPECT_EQ(stopped->tokenIds, std::vector<std::int64_t>(free.begin(), firstHit + 1)) << "the stop token is the last";
    EXPECT_EQ(stopped->finish, FinishReason::stop);

    options.ignoreEos = true;
    EXPECT_EQ(idsOf(*model, options), free);
}

TEST(Generate, TakesTheConfigsEosWhenNoStopTokensAreGiven) {
    ModelConfig config = smallConfig(4, 2);
    const std::vector<std::int64_t> free = idsOf(*randomModel(config), forced(8));
    config.eosTokenIds = {96, free[2]};
    auto model = randomModel(config);
    GenerateOptions options = forced(8);
    options.ignoreEos = false;
    const Result<GenerateResult> result = generate(*model, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->finish, FinishReason::stop);
    EXPECT_EQ(result->tokenIds.back(), free[2]);
}

TEST(Generate, NeverEmitsPaddingIds) {
    auto model = randomModel(smallConfig(4, 2));
    GenerateOptions options = forced(40);
    const std::vector<std::int64_t> free = idsOf(*model, options);
    const std::int64_t bound = *std::max_element(free.begin(), free.end());
    ASSERT_GT(bound, 0) << "the unbounded text has ids to keep out";
    options.usableVocab = bound;
    for (const std::int64_t id : idsOf(*model, options)) EXPECT_LT(id, bound);
    options.sampling.temperature = 5;
    for (const std::int64_t id : idsOf(*model, options)) EXPECT_LT(id, bound);
}

TEST(Generate, SamplesTheSameTextForTheSameSeed) {
    auto model = randomModel(smallConfig(4, 2));
    GenerateOptions options = forced(30);
    options.sampling = {.temperature = 1.5, .topP = 0.9, .seed = 11};
    const std::vector<std::int64_t> first = idsOf(*model, options);
    EXPECT_EQ(idsOf(*model, options), first);
    options.sampling.seed = 12;
    EXPECT_NE(idsOf(*model, options), first);
}

TEST(Generate, WithATinyTopPIsGreedy) {
    auto model = randomModel(smallConfig(4, 2));
    GenerateOptions options = forced(20);
    const std::vector<std::int64_t> greedy = idsOf(*model, options);
    options.sampling = {.temperature = 3, .topP = 1e-9, .seed = 1};
    EXPECT_EQ(idsOf(*model, options), greedy);
}

TEST(TokenPicker, DrawsEachTokenAsOftenAsItsProbabilitySays) {
    const std::vector<double> wanted{0.5, 0.25, 0.15, 0.07, 0.03};
    std::vector<float> logits;
    for (const double p : wanted) logits.push_back(static_cast<float>(2 * std::log(p)));  // temperature 2 undoes the factor
    const at::Tensor row = at::tensor(logits).unsqueeze(0);
    constexpr int kDraws = 4000;
    const auto frequencies = [&](double topP) {
        const TokenPicker picker({.temperature = 2, .topP = topP, .seed = 3}, 5);
        std::vector<double> counts(5, 0);
        at::Tensor token = at::zeros({1, 1}, at::kLong);
        for (int i = 0; i < kDraws; ++i) {
            picker.pick(row, i, token);
            counts[static_cast<std::size_t>(token.item<std::int64_t>())] += 1.0 / kDraws;
        }
        return counts;
    };
    const auto expectNear = [](double got, double p) { EXPECT_NEAR(got, p, 5 * std::sqrt(p * (1 - p) / kDraws) + 1e-12); };
    const std::vector<double> all = frequencies(1);
    for (std::size_t i = 0; i < 5; ++i) expectNear(all[i], wanted[i]);
    // 0.5 + 0.25 < 0.8 <= 0.5 + 0.25 + 0.15: three tokens stay.
    const std::vector<double> nucleus = frequencies(0.8);
    for (std::size_t i = 0; i < 5; ++i) expectNear(nucleus[i], i < 3 ? wanted[i] / 0.9 : 0);
}

TEST(Generate, CallsBackInOrderWithPositionsAndRisingTimes) {
    auto model = randomModel(smallConfig(4, 2));
    GenerateOptions options = forced(7);
    std::vector<GeneratedToken> seen;
    options.onToken = [&](const GeneratedToken& token) { seen.push_back(token); };
    const std::vector<std::int64_t> ids = idsOf(*model, options);
    ASSERT_EQ(seen.size(), 7U);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(seen[i].id, ids[i]);
        EXPECT_EQ(seen[i].position, static_cast<std::int64_t>(6 + i));
        if (i > 0) {
            EXPECT_GT(seen[i].elapsedMs, seen[i - 1].elapsedMs);
        }
    }
}

TEST(Generate, SeparatesItsFigures) {
    auto model = randomModel(smallConfig(4, 2));
    const Result<GenerateResult> result = generate(*model, forced(9));
    ASSERT_TRUE(result);
    EXPECT_GT(result->ttftMs, 0);
    EXPECT_EQ(result->stepMs.size(), 8U);
    EXPECT_NEAR(result->prefillTokensPerSecond, 6e3 / result->ttftMs, 1e-6 * result->prefillTokensPerSecond);
    EXPECT_NEAR(result->decodeTokensPerSecond, 1e3 / result->decodeMsPerToken, 1e-6 * result->decodeTokensPerSecond);
    EXPECT_NEAR(result->ttftMs + std::accumulate(result->stepMs.begin(), result->stepMs.end(), 0.0), result->totalMs, 0.5);
    EXPECT_GT(result->outsideForwardMs, 0);
    EXPECT_LT(result->outsideForwardMs, result->totalMs);

    const Result<GenerateResult> single = generate(*model, forced(1));
    ASSERT_TRUE(single);
    EXPECT_TRUE(std::isnan(single->decodeMsPerToken)) << "one token has no decode step";
    const Result<GenerateResult> none = generate(*model, forced(0));
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->tokenIds.empty());
    EXPECT_EQ(none->finish, FinishReason::length);
}

TEST(Generate, CountsTimeOutsideTheForwardPass) {
    auto model = randomModel(smallConfig(4, 2));
    GenerateOptions options = forced(5);
    options.onToken = [](const GeneratedToken&) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    const Result<GenerateResult> result = generate(*model, options);
    ASSERT_TRUE(result);
    EXPECT_GE(result->outsideForwardMs, 5 * 20.0);
}

TEST(Generate, CapturesLogitsOfThePromptAndOfEachNewToken) {
    auto model = randomModel(smallConfig(4, 2));
    GenerateOptions options = forced(4);
    options.captureLogits = options.capturePromptLogits = true;
    const Result<GenerateResult> result = generate(*model, options);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->promptLogits.sizes(), (at::IntArrayRef{6, 97}));
    ASSERT_EQ(result->logits.sizes(), (at::IntArrayRef{4, 97}));
    EXPECT_TRUE(at::equal(result->promptLogits[5], result->logits[0])) << "the last prompt position picks the first token";
    for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(result->logits[i].argmax().item<std::int64_t>(), result->tokenIds[static_cast<std::size_t>(i)]);
    }
}

TEST(Generate, RefusesWhatCannotBeDoneInWords) {
    auto model = randomModel(smallConfig(4, 2));  // context 256, vocabulary 97
    const auto refusal = [&](const GenerateOptions& options) {
        const Result<GenerateResult> result = generate(*model, options);
        EXPECT_FALSE(result);
        if (result) return std::string();
        EXPECT_EQ(result.error().code, ErrorCode::usage);
        return result.error().message;
    };
    EXPECT_NE(refusal(forced(1, {3, 97})).find("token id 97"), std::string::npos);
    EXPECT_NE(refusal(forced(1, {-1})).find("token id -1"), std::string::npos);
    EXPECT_NE(refusal(forced(1, {})).find("empty"), std::string::npos);
    EXPECT_NE(refusal(forced(251)).find("context of 256"), std::string::npos);
    EXPECT_EQ(idsOf(*model, forced(250)).size(), 250U) << "exactly the context is allowed";
    GenerateOptions cold = forced(1);
    cold.sampling.temperature = -1;
    EXPECT_NE(refusal(cold).find("temperature"), std::string::npos);
    GenerateOptions wide = forced(1);
    wide.sampling.topP = 1.5;
    EXPECT_NE(refusal(wide).find("top-p"), std::string::npos);
}

TEST(Generate, KeepsWhatItHasWhenCancelled) {
    auto model = randomModel(smallConfig(4, 2));
    std::stop_source source;
    GenerateOptions options = forced(50);
    options.stop = source.get_token();
    options.captureLogits = true;
    options.onToken = [&](const GeneratedToken& token) {
        if (token.position == 6 + 2) source.request_stop();
    };
    const Result<GenerateResult> result = generate(*model, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->finish, FinishReason::cancelled);
    EXPECT_EQ(result->tokenIds.size(), 3U);
    EXPECT_EQ(result->logits.size(0), 3);
    EXPECT_EQ(idsOf(*model, forced(50)).size(), 50U) << "the model is free again";
}

TEST(Generate, IsCancelledInsideTheFirstPass) {
    auto model = randomModel(smallConfig(4, 2));
    std::stop_source source;
    struct Canceller final : ModuleHook {
        std::stop_source& source;
        int entered = 0;
        explicit Canceller(std::stop_source& s) : source(s) {}
        void enter(const ModuleInfo& module) override {
            ++entered;
            if (module.path == "model.layers.0.self_attn") source.request_stop();
        }
        void leave(const ModuleInfo&) override {}
    } canceller(source);
    model->hooks().add(&canceller);
    GenerateOptions options = forced(5);
    options.stop = source.get_token();
    const Result<GenerateResult> result = generate(*model, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->finish, FinishReason::cancelled);
    EXPECT_TRUE(result->tokenIds.empty());
    EXPECT_LT(canceller.entered, static_cast<int>(model->modules().size()));
}

TEST(Generator, RunsManyTextsOnOneCacheAndEveryRowIsTheSameText) {
    auto model = randomModel(smallConfig(4, 2));
    Result<Generator> generator = Generator::create(*model, 3, 20);
    ASSERT_TRUE(generator);
    const std::vector<std::int64_t> expected = idsOf(*model, forced(10));
    for (int run = 0; run < 2; ++run) {
        const Result<GenerateResult> result = generator->run(forced(10));
        ASSERT_TRUE(result);
        EXPECT_EQ(result->tokenIds, expected);
        const at::Tensor tokens = generator->tokens().squeeze(1);
        EXPECT_TRUE(at::equal(tokens, tokens[0].expand({3})));
    }
    EXPECT_FALSE(generator->run(forced(16))) << "21 positions do not fit";
    EXPECT_TRUE(generator->run(forced(15)));
}

TEST(Generator, RunsTheSameOperatorsInEveryStep) {
    auto model = randomModel(smallConfig(4, 2));
    static std::vector<std::int64_t> operators;  // a recording callback takes no context
    operators.assign(1, 0);
    GenerateOptions options = forced(12);
    options.onToken = [](const GeneratedToken&) { operators.push_back(0); };
    const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback([](const at::RecordFunction& fn) -> std::unique_ptr<at::ObserverContext> {
                                                       ++operators.back();
                                                       EXPECT_STRNE(fn.name(), "aten::_local_scalar_dense") << "a hidden copy to the host";
                                                       return nullptr;
                                                   }).scopes({at::RecordScope::FUNCTION}));
    const std::vector<std::int64_t> ids = idsOf(*model, options);
    at::removeCallback(handle);
    ASSERT_EQ(operators.size(), 13U);
    EXPECT_GT(operators[1], 50);
    for (std::size_t step = 2; step < 12; ++step) EXPECT_EQ(operators[step], operators[1]) << "step " << step;
}

TEST(Npy, IsReadBackAsWritten) {
    const TemporaryFolder folder;
    const std::vector<float> values{1.5F, -2, 0, 3e-9F, 7, 8};
    const auto file = folder.path() / "new" / "logits.npy";
    ASSERT_TRUE(writeNpy(file, values, 2, 3));
    const Result<NpyMatrix> read = readNpy(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->rows, 2);
    EXPECT_EQ(read->columns, 3);
    EXPECT_EQ(read->values, values);
    const std::string bytes = readFile(file);
    EXPECT_EQ(bytes.size(), 128U + 24U) << "the numbers start at a multiple of 64";
    EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
    ASSERT_TRUE(writeNpy(file, {}, 0, 3)) << "no rows are a matrix too";
    EXPECT_EQ(readNpy(file)->rows, 0);
}

TEST(Npy, OfAnotherKindOrTornIsRefused) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "x.npy";
    ASSERT_TRUE(writeNpy(file, std::vector<float>(6), 2, 3));
    const std::string good = readFile(file);
    for (const std::string& bad : {good.substr(0, 5), good.substr(0, 60), good.substr(0, good.size() - 1), std::string("hello, world"),
                                   std::string(good).replace(good.find("<f4"), 3, "<f8"), std::string(good).replace(good.find("(2, 3)"), 6, "(2, x)")}) {
        ASSERT_TRUE(writeFile(file, bad));
        const Result<NpyMatrix> read = readNpy(file);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, ErrorCode::badInput);
    }
}

}  // namespace kernelscope::test
