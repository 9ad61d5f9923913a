// Verdicts on profiles that were measured on an H200 (docs/measurements), with the work of their models.

#include <fstream>

#include <gtest/gtest.h>

#include "core/model/pass_work.h"
#include "core/records/headline.h"
#include "core/records/verdict.h"

namespace kernelscope {
namespace {

struct Measured {
    nlohmann::json document;
    std::vector<ProfileRow> rows;
};

Measured measured(const std::string& name) {
    std::ifstream in(KERNELSCOPE_MEASUREMENTS "/2026-11-29-h200/" + name + ".json");
    Measured run{nlohmann::json::parse(in), {}};
    for (const nlohmann::json& row : run.document["rows"]) run.rows.push_back(*rowFrom<ProfileRow>(valuesFromJson(rowTypeOf<ProfileRow>(), row).value()));
    return run;
}

/// The work of the run's model, and what the same H200 was measured to copy (sweep.json); 800 Tflop/s is a round figure for its float16 products.
nlohmann::json resultOf(const Measured& run, const char* preset, const std::string& phase) {
    const auto tokens = run.document["run"]["settings"]["prompt_tokens"].get<std::int64_t>();
    const bool prefill = phase == "prefill";
    PassWork work{4217e9, 800e12, {}};
    for (const TypeWork& type : passWork(findPreset(preset)->config, {.tokens = prefill ? tokens : 1, .past = prefill ? 0 : tokens}))
        work.types.push_back({std::string(toString(type.type)), type.bytes, type.flops});
    nlohmann::json result;
    keepWork(result, phase, work);
    return result;
}

TEST(PassWorkModel, OfADecodeStepIsItsWeightsOnceAndTwoOperationsAWeight) {
    const ModelConfig& config = findPreset("qwen2.5-0.5b")->config;
    double bytes = 0, flops = 0;
    for (const TypeWork& type : passWork(config, {.past = 32})) {
        bytes += type.bytes;
        flops += type.flops;
    }
    const auto weights = static_cast<double>(config.parameters());
    EXPECT_NEAR(bytes, 2 * weights, 0.02 * 2 * weights);
    EXPECT_NEAR(flops, 2 * weights, 0.02 * 2 * weights);
}

TEST(PassWorkModel, GrowsWithTokensWhereWeightsDoNot) {
    const ModelConfig& config = findPreset("qwen2.5-7b")->config;
    const auto of = [&](const PassShape& shape, ModuleType wanted) {
        for (const TypeWork& type : passWork(config, shape))
            if (type.type == wanted) return type;
        return TypeWork{};
    };
    const TypeWork one = of({.past = 32}, ModuleType::mlp), many = of({.tokens = 512}, ModuleType::mlp);
    EXPECT_NEAR(many.flops / one.flops, 512, 1e-6);
    EXPECT_LT(many.bytes / one.bytes, 1.1);
    // Half of the scores of a prompt are of tokens to come.
    const double projections = of({.tokens = 1}, ModuleType::attention).flops - 4.0 * 28 * 3584;
    EXPECT_NEAR(of({.tokens = 512}, ModuleType::attention).flops, 512 * projections + 4.0 * 28 * 3584 * 512 * 513 / 2, 1e6);
}

TEST(RealProfiles, AnEagerDecodeStepOfASmallModelIsLaunchBound) {
    const Measured run = measured("decode-type");
    const std::string headline = phaseHeadline(run.rows, "decode", resultOf(run, "qwen2.5-0.5b", "decode"));
    EXPECT_NE(headline.find("launch-bound · Attention is 47 % of the gaps"), std::string::npos) << headline;
}

TEST(RealProfiles, TheSameStepAsAGraphIsBoundByTheLatencyOfItsManyKernels) {
    const Measured run = measured("decode-graph");
    const std::string headline = phaseHeadline(run.rows, "decode", resultOf(run, "qwen2.5-0.5b", "decode"));
    EXPECT_NE(headline.find("latency-bound (its bytes take 235 µs at the copy rate)"), std::string::npos) << headline;
    EXPECT_EQ(bestCaseSentence(run.rows, "decode").find("by span"), std::string::npos) << "in a graph span and GPU time are one";
}

TEST(RealProfiles, TheGpuTimeOfASevenBillionStepIsItsMemorys) {
    const Measured run = measured("7b-decode");
    const auto work = passWorkOf(resultOf(run, "qwen2.5-7b", "decode"), "decode");
    ASSERT_TRUE(work);
    for (const ProfileRow& row : run.rows) {
        if (row.name == "total") { EXPECT_EQ(boundOf(*row.gpuUs, row.gpuUs, 0, &*work), Bound::memory) << "as a graph"; }
        if (row.name == "MLP" || row.name == "LM head") {
            EXPECT_LT(work->leastUs(row.name), *row.gpuUs) << row.name << " cannot be quicker than its weights are read";
            EXPECT_GT(work->leastUs(row.name), 0.6 * *row.gpuUs) << row.name;
        }
    }
}

TEST(RealProfiles, WhatAPerfectNormWouldBuyIsMoreThanWhatAFusedOneBought) {
    const Measured native = measured("decode-type"), fused = measured("decode-norm-fused");
    const auto gpuOf = [](const Measured& run) {
        for (const ProfileRow& row : run.rows)
            if (row.name == "total") return *row.gpuUs;
        return 0.0;
    };
    const auto work = passWorkOf(resultOf(native, "qwen2.5-0.5b", "decode"), "decode");
    for (const BestCase& best : bestCases(native.rows, "decode", &*work)) {
        if (best.type != "RMSNorm") continue;
        EXPECT_GT(*best.byGpu, gpuOf(native) / gpuOf(fused));
        EXPECT_LT(*best.byGpu, 1.4);
    }
}

TEST(RealProfiles, ANoisyRunSaysSoAndAQuietOneDoesNot) {
    EXPECT_NE(cautionOf(measured("repeat/9").rows, "decode").find("the tax is not known"), std::string::npos);
    EXPECT_EQ(cautionOf(measured("repeat/6").rows, "decode"), "");
}

}  // namespace
}  // namespace kernelscope
