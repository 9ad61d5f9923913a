// The whole job on the CPU with a small model.

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/engine/job.h"
#include "core/engine/model_setup.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"

namespace kernelscope {
namespace {

class EndToEndOnCpu : public testing::Test {
protected:
    Result<JobStarted> prepare(const nlohmann::json& settings) {
        JobRequest request;
        request.kind = "e2e";
        request.model = "qwen2.5-tiny";
        request.device = "cpu";
        request.settings = settings;
        job = makeEndToEndJob(request);
        return job->prepare(models);
    }
    Finished run(std::stop_source stop = {}, const std::function<void(const Progress&)>& onProgress = {}) {
        JobContext context{stop.get_token(), [&](const Progress& progress) { if (onProgress) onProgress(progress); },
                           [&](const RowRecord& record) { records.push_back(record); }, models};
        return job->run(context);
    }
    /// The last state of every row of a configuration, by key.
    std::map<std::string, EndToEndRow> rows() const {
        std::map<std::string, EndToEndRow> last;
        for (const RowRecord& record : records) {
            if (record.type != RowSchema<EndToEndRow>::kName) continue;
            const auto row = rowFrom<EndToEndRow>(record.values);
            if (row) last[record.key] = *row;
            EXPECT_TRUE(row) << record.key;
        }
        return last;
    }

    ModelHolder models;
    std::unique_ptr<Job> job;
    std::vector<RowRecord> records;
};

const nlohmann::json kShort{{"runs", 5}, {"warmup", 1}, {"new_tokens", 6}, {"prompt_tokens", 8}};

TEST_F(EndToEndOnCpu, MeasuresNativeAndPatchedAndExplainsTheGain) {
    const Result<JobStarted> started = prepare(kShort);
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(started->settings["patch"], "rms_norm=fused,add_rms_norm=fused,silu_mul=fused,rope=fused");
    EXPECT_EQ(started->settings["batch"], 1);
    const Finished finished = run();
    ASSERT_EQ(finished.status, RunStatus::done) << finished.error.message;
    EXPECT_FALSE(finished.headline.empty());

    auto last = rows();
    ASSERT_EQ(last.size(), 2U);
    const EndToEndRow& native = last["native|eager"];
    const EndToEndRow& patched = last["patched|eager"];
    for (const EndToEndRow* row : {&native, &patched}) {
        EXPECT_EQ(row->status, "ok");
        EXPECT_GT(*row->ttftMs, 0);
        EXPECT_GT(*row->totalMs, *row->ttftMs);
        EXPECT_GE(*row->decodeP99Ms, *row->decodeP90Ms);
        EXPECT_GE(*row->decodeP90Ms, *row->decodeMsPerToken);
        EXPECT_GE(*row->outsideForwardMs, 0);
        EXPECT_LT(*row->outsideForwardMs, *row->totalMs);
        EXPECT_FALSE(row->verdict.empty());
    }
    EXPECT_EQ(native.speedup, 1.0);
    EXPECT_NEAR(*patched.speedup, *native.totalMs / *patched.totalMs, 1e-9);
    EXPECT_NEAR(*patched.removedPct, 100 * (1 - 1 / *patched.speedup), 1e-9);
    EXPECT_LE(*patched.speedupCiLow, *patched.speedup);
    EXPECT_GE(*patched.speedupCiHigh, *patched.speedup);
    EXPECT_EQ(patched.eagerSpeedup, patched.speedup);
    EXPECT_FALSE(patched.predictedByGpu);  // no GPU: no claim

    // The prediction again, from the ledger's own numbers.
    const nlohmann::json& ledger = finished.result["ledger"]["eager"];
    double all = 0, removed = 0;
    for (const nlohmann::json& phase : ledger["phases"]) all += phase["native_ms"].get<double>();
    for (const nlohmann::json& phase : ledger["phases"]) {
        ASSERT_EQ(phase["operators"].size(), 4U);
        double shares = 0;
        for (const nlohmann::json& op : phase["operators"]) {
            EXPECT_GT(op["calls"].get<std::int64_t>(), 0) << op["op"];
            shares += op["span_share_pct"].get<double>();
            removed += phase["native_ms"].get<double>() / all * op["span_share_pct"].get<double>() / 100 * (1 - 1 / op["call_speedup"].get<double>());
        }
        EXPECT_GT(shares, 0);
        EXPECT_LT(shares, 100);
    }
    ASSERT_TRUE(patched.predictedBySpan);
    EXPECT_NEAR(*patched.predictedBySpan, 1 / (1 - removed), 1e-9);
    EXPECT_FALSE(ledger["words_by_span"].get<std::string>().empty());

    const nlohmann::json& generated = finished.result["generated"]["eager"];
    EXPECT_EQ(generated["native"]["token_ids"].size(), 6U);
    EXPECT_EQ(generated["native"]["token_ids"] == generated["patched"]["token_ids"], *patched.tokensMatch);
    EXPECT_EQ(patched.firstDivergence.has_value(), !*patched.tokensMatch);
    EXPECT_EQ(patched.logitGap.has_value(), !*patched.tokensMatch);
    ASSERT_EQ(finished.result["patch"].size(), 4U);
    for (const nlohmann::json& patch : finished.result["patch"]) {
        EXPECT_GT(patch["launches"].get<std::int64_t>(), 0) << patch["op"];
        EXPECT_EQ(patch["status"], "ok") << patch["op"];
    }
}

TEST_F(EndToEndOnCpu, ShowsANewStateAfterEveryRunAndKeepsEverySample) {
    ASSERT_TRUE(prepare(kShort));
    std::set<std::pair<std::string, std::int64_t>> progress;
    ASSERT_EQ(run({}, [&](const Progress& at) { progress.emplace(at.phase, at.done); }).status, RunStatus::done);
    std::set<std::string> states;
    std::map<std::string, std::int64_t> samples;
    for (const RowRecord& record : records) {
        if (record.type == RowSchema<EndToEndRow>::kName) states.insert(record.key + toJson(*findRowType("e2e"), record.values).dump());
        else if (const auto sample = rowFrom<SampleRow>(record.values)) ++samples[sample->rowKey + "/" + sample->metric];
    }
    EXPECT_GE(states.size(), 10U);  // five runs of each
    EXPECT_GE(progress.size(), 12U);
    EXPECT_EQ(samples["native|eager/total_ms"], 5);
    EXPECT_EQ(samples["patched|eager/ttft_ms"], 5);
    EXPECT_EQ(samples["patched|eager/decode_ms_per_token"], 5 * 5);
}

TEST_F(EndToEndOnCpu, PatchesOnlyWhatIsNamedInABatch) {
    nlohmann::json settings = kShort;
    settings["patch"] = "rms_norm=fused";
    settings["batch"] = 2;
    settings["runs"] = 1;
    ASSERT_TRUE(prepare(settings));
    const Finished finished = run();
    ASSERT_EQ(finished.status, RunStatus::done) << finished.error.message;
    const nlohmann::json& operators = finished.result["ledger"]["eager"]["phases"][1]["operators"];
    ASSERT_EQ(operators.size(), 1U);
    EXPECT_EQ(operators[0]["op"], "rms_norm");
    const EndToEndRow row = rows()["patched|eager"];
    EXPECT_NEAR(*row.decodeTokensPerS, 2000 / *row.decodeMsPerToken, 1e-9);
    EXPECT_EQ(row.verdict, "cant_tell");  // of one run
}

TEST_F(EndToEndOnCpu, OneNewTokenIsAPrefillAndNoMore) {
    nlohmann::json settings = kShort;
    settings["new_tokens"] = 1;
    settings["runs"] = 2;
    ASSERT_TRUE(prepare(settings));
    const Finished finished = run();
    ASSERT_EQ(finished.status, RunStatus::done) << finished.error.message;
    EXPECT_EQ(finished.result["ledger"]["eager"]["phases"].size(), 1U);
    EXPECT_FALSE(rows()["patched|eager"].decodeMsPerToken);
}

TEST_F(EndToEndOnCpu, RefusesWhatItCannotDoBeforeItBegins) {
    EXPECT_EQ(prepare({{"mode", "graph"}}).error().code, ErrorCode::environment);
    EXPECT_EQ(prepare({{"mode", "both"}}).error().code, ErrorCode::environment);
    EXPECT_EQ(prepare({{"patch", "rms_norm=nothing"}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"patch", "fused"}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"new_tokens", 0}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"new_tokens", 1'000'000}}).error().code, ErrorCode::usage);
    EXPECT_EQ(prepare({{"run", 3}}).error().code, ErrorCode::usage);
}

TEST_F(EndToEndOnCpu, EndsWhenAskedToWithTheRunsThatItHas) {
    nlohmann::json settings = kShort;
    settings["runs"] = 100'000;
    ASSERT_TRUE(prepare(settings));
    std::stop_source stop;
    const Finished finished = run(stop, [&](const Progress& progress) {
        if (progress.phase == "Timed runs" && progress.done >= 8) stop.request_stop();
    });
    EXPECT_EQ(finished.status, RunStatus::cancelled);
    auto last = rows();
    ASSERT_EQ(last.size(), 2U);
    EXPECT_EQ(last["native|eager"].status, "cancelled");
    EXPECT_TRUE(last["patched|eager"].speedup);
    EXPECT_TRUE(std::any_of(records.begin(), records.end(), [](const RowRecord& record) { return record.type == RowSchema<SampleRow>::kName; }));
}

}  // namespace
}  // namespace kernelscope
