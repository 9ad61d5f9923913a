// The context job on the CPU with a small model.

#include <map>

#include <gtest/gtest.h>

#include "core/engine/job.h"
#include "core/engine/model_setup.h"
#include "core/records/context_rows.h"
#include "core/records/row_key.h"

namespace kernelscope {
namespace {

class ContextOnCpu : public testing::Test {
protected:
    Result<JobStarted> prepare(const nlohmann::json& settings) {
        JobRequest request;
        request.kind = "context";
        request.model = "qwen2.5-tiny";
        request.device = "cpu";
        request.settings = settings;
        job = makeContextJob(request);
        return job->prepare(models);
    }
    Finished run() {
        JobContext context{{}, [](const Progress&) {}, [&](const RowRecord& record) { records.push_back(record); }, models};
        return job->run(context);
    }
    template <typename Row>
    std::vector<Row> rows() const {
        std::vector<Row> found;
        for (const RowRecord& record : records) {
            if (record.type != RowSchema<Row>::kName) continue;
            found.push_back(*rowFrom<Row>(record.values));
            EXPECT_EQ(record.key, rowKey(found.back()));
        }
        return found;
    }

    ModelHolder models;
    std::unique_ptr<Job> job;
    std::vector<RowRecord> records;
};

TEST_F(ContextOnCpu, MeasuresEveryPointWithSharesThatAddUpAndAPeakThatHoldsTheCache) {
    const Result<JobStarted> started = prepare({{"context", {256, 16}}, {"batch", {2, 1}}, {"iterations", 4}, {"warmup", 1}});
    ASSERT_TRUE(started) << started.error().message;
    const Finished finished = run();
    ASSERT_EQ(finished.status, RunStatus::done) << finished.error.message;
    EXPECT_NE(finished.headline.find("16 tokens"), std::string::npos) << finished.headline;
    const auto points = rows<ContextRow>();
    ASSERT_EQ(points.size(), 4U);
    std::map<std::pair<std::int64_t, std::int64_t>, double> shares;
    for (const ContextShareRow& share : rows<ContextShareRow>()) shares[{share.batch, share.contextTokens}] += *share.spanSharePct;
    for (const ContextRow& point : points) {
        EXPECT_EQ(point.status, "ok") << point.reason;
        EXPECT_GT(*point.decodeMsPerToken, 0);
        EXPECT_LE(*point.decodeCiLowMs, *point.decodeMsPerToken);
        EXPECT_GE(*point.decodeCiHighMs, *point.decodeMsPerToken);
        EXPECT_NEAR(*point.decodeTokensPerS, 1e3 * static_cast<double>(point.batch) / *point.decodeMsPerToken, 1e-6);
        EXPECT_FALSE(point.gpuMsPerToken) << "a CPU has none";
        EXPECT_GT(*point.peakMemoryBytes, *point.cacheBytes);
        EXPECT_NEAR((shares[{point.batch, point.contextTokens}]), 100, 1e-6);
    }
    EXPECT_EQ(points[0].contextTokens, 16) << "from short to long";
    EXPECT_GT(*points[1].cacheBytes, *points[0].cacheBytes);
}

TEST_F(ContextOnCpu, APointThatDoesNotFitSaysSoAndTheOthersAreMeasured) {
    const Result<JobStarted> started = prepare({{"context", {8, 1'000'000'000}}, {"batch", {1}}, {"iterations", 2}, {"warmup", 0}});
    ASSERT_TRUE(started) << started.error().message;
    ASSERT_EQ(run().status, RunStatus::done);
    const auto points = rows<ContextRow>();
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[0].status, "ok") << points[0].reason;
    EXPECT_EQ(points[1].status, "skipped");
    EXPECT_FALSE(points[1].reason.empty());
    EXPECT_FALSE(points[1].decodeMsPerToken);
}

TEST_F(ContextOnCpu, RefusesWhatMakesNoSense) {
    EXPECT_EQ(prepare({{"context", {0}}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"batch", {0}}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"context", {1'000'000'000}}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"patch", "rms_norm=nothing"}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"iterations", 1}}).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace kernelscope
