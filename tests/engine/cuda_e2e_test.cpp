// End to end on a GPU: shares of operators by GPU time, and the four configurations in one run.

#include <cmath>
#include <map>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/engine/job.h"
#include "core/engine/model_setup.h"
#include "core/measure/gpu_columns.h"
#include "core/measure/graph_profile.h"
#include "core/measure/operator_shares.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {
namespace {

class CudaEndToEnd : public testing::Test {
protected:
    void SetUp() override {
        Result<Device> opened = openDevice("cuda");
        if (!opened) GTEST_SKIP() << "no CUDA device here: " << opened.error().message;
        device = *opened;
        ASSERT_TRUE(activate(device));
    }

    Finished run(const nlohmann::json& settings) {
        JobRequest request;
        request.kind = "e2e";
        request.model = "qwen2.5-0.5b";
        request.device = "cuda";
        request.dtype = "float16";
        request.settings = settings;
        const std::unique_ptr<Job> job = makeEndToEndJob(request);
        const Result<JobStarted> started = job->prepare(models);
        if (!started) {
            ADD_FAILURE() << started.error().message;
            return {};
        }
        JobContext context{{}, [](const Progress&) {},
                           [&](const RowRecord& record) {
                               if (const auto row = rowFrom<EndToEndRow>(record.values); row && record.type == "e2e") rows[record.key] = *row;
                           },
                           models};
        return job->run(context);
    }

    Device device;
    ModelHolder models;
    std::map<std::string, EndToEndRow> rows;
};

TEST_F(CudaEndToEnd, AnOperatorsGpuShareIsThatOfItsModules) {
    const c10::InferenceMode inference;
    LoadOptions options;
    options.device = device.torch;
    options.dtype = at::kHalf;
    const std::unique_ptr<Qwen2Model> model = std::move(Qwen2Model::random(findPreset("qwen2.5-0.5b")->config, options).value());
    KvCache cache = model->makeCache(1, 64);
    const at::Tensor token = at::full({1, 1}, 100, at::TensorOptions().dtype(at::kLong).device(device.torch));
    const Pass pass = [&] {
        cache.setLength(32);
        (void)model->forward(token, cache).argmax(-1);
    };
    for (int warmup = 0; warmup < 3; ++warmup) pass();
    const Result<GraphProfile> graph = measureGraph(pass, model->modules(), model->hooks(), device, {}, {}, {});
    ASSERT_TRUE(graph) << graph.error().message;
    double norms = 0;
    for (const ProfileRow& row : graphModeRows("decode", *graph, model->modules(), ProfileLevel::type)) {
        if (row.name == "RMSNorm") norms = *row.gpuSharePct;
    }
    const OperatorModules operators(model->modules());
    model->setPatchTable(operators.instrument(nativePatchTable(), model->hooks()));
    const Result<OperatorShares> shares =
        measureOperatorShares("decode", pass, {"rms_norm", "silu_mul", "rope"}, operators, model->hooks(), device, {10, 4, false}, {});
    ASSERT_TRUE(shares) << shares.error().message;
    EXPECT_TRUE(shares->note.empty()) << shares->note;
    EXPECT_NEAR(100 * *shares->shares[0].gpu, norms, 1.0);
    EXPECT_EQ(shares->shares[0].calls, 49);
    EXPECT_GT(*shares->shares[1].gpu, 0);
    EXPECT_GT(*shares->shares[2].gpu, 0);
}

TEST_F(CudaEndToEnd, FourConfigurationsInOneRunWithBothPredictions) {
    const Finished finished = run({{"mode", "both"}, {"runs", 6}, {"warmup", 2}});
    ASSERT_EQ(finished.status, RunStatus::done) << finished.error.message;
    ASSERT_EQ(rows.size(), 4U);
    for (const auto& [key, row] : rows) {
        EXPECT_EQ(row.status, "ok") << key;
        EXPECT_GT(*row.totalMs, 0) << key;
        ASSERT_TRUE(row.eagerSpeedup) << key;
        std::printf("%s: total %.2f ms, decode %.3f ms (%.0f tokens/s), speed-up %.3f (%.3f to %.3f), over native eager %.2f, by span %.3f, by gpu %.3f, tokens %s\n", key.c_str(),
                    *row.totalMs, *row.decodeMsPerToken, *row.decodeTokensPerS, *row.speedup, *row.speedupCiLow, *row.speedupCiHigh, *row.eagerSpeedup,
                    row.predictedBySpan.value_or(NAN), row.predictedByGpu.value_or(NAN), *row.tokensMatch ? "the same" : "differ");
    }
    for (const char* mode : {"eager", "graph"}) {
        const EndToEndRow& row = rows["patched|" + std::string(mode)];
        EXPECT_TRUE(row.predictedBySpan && row.predictedByGpu) << mode;
        EXPECT_GT(*row.speedup, 1.0) << mode;
        EXPECT_EQ(row.firstDivergence.has_value(), row.logitGap.has_value());
        // Two texts part only where the native model itself hardly cares which token comes: float16 has 11 bits.
        if (row.logitGap) { EXPECT_LT(std::abs(*row.logitGap), 0.1) << mode; }
        std::printf("%s: %s\n", mode, finished.result["ledger"][mode]["words_by_gpu"].get<std::string>().c_str());
    }
    EXPECT_GT(*rows["native|graph"].eagerSpeedup, 1.0);
    std::printf("%s\n", finished.result["ledger"].dump(1).c_str());
    if (finished.result.contains("notes")) std::printf("notes: %s\n", finished.result["notes"].dump().c_str());
}

TEST_F(CudaEndToEnd, TheLedgerOfGraphModeIsWithinFivePointsOfTheMeasuredGain) {
    const Finished finished = run({{"mode", "graph"}, {"runs", 6}, {"warmup", 2}, {"patch", "rms_norm=fused"}});
    ASSERT_EQ(finished.status, RunStatus::done) << finished.error.message;
    const nlohmann::json& ledger = finished.result["ledger"]["graph"];
    EXPECT_LT(std::abs(ledger["residual_by_gpu_points"].get<double>()), 5.0) << ledger.dump(1);
}

}  // namespace
}  // namespace kernelscope
