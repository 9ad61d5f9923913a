// Comparing across processes: what one run on each side may claim, and what several may.

#include "core/client/compare.h"
#include "core/records/format.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"
#include "core/records/row_key.h"
#include "core/records/statistics.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

class Repeats : public testing::Test {
protected:
    /// A profile of one total whose passes scatter by 0.2 %, as passes within a process do.
    void add(const std::string& id, double spanUs, double gpuUs = 0, const nlohmann::json& settings = {{"prompt_tokens", 32}}) {
        RunHeader run;
        run.id = id;
        run.kind = "profile";
        run.device = gpuUs > 0 ? "a GPU" : "a CPU";
        if (gpuUs > 0) run.environment["gpu"] = "a GPU";
        run.settings = settings;
        run.status = RunStatus::done;
        ASSERT_TRUE(store->createRun(run).ok());
        ProfileRow row{"decode", "type", "total", "total"};
        row.spanUs = row.selfSpanUs = spanUs;
        if (gpuUs > 0) row.gpuUs = gpuUs;
        ASSERT_TRUE(store->putRow(id, {"profile", "total", valuesOf(row)}).ok());
        for (int pass = 0; pass < 30; ++pass) {
            const double scatter = 1 + 0.002 * (pass % 5 - 2) / 2;
            ASSERT_TRUE(store->putRow(id, {"sample", "s" + std::to_string(pass), valuesOf(SampleRow{"total", "span_us", pass, spanUs * scatter})}).ok());
            if (gpuUs > 0) {
                ASSERT_TRUE(store->putRow(id, {"sample", "g" + std::to_string(pass), valuesOf(SampleRow{"total", "gpu_us", pass, gpuUs * scatter})}).ok());
            }
        }
    }
    Comparison compare(std::vector<std::string> ids) {
        auto comparison = compareRuns(*store, ids);
        EXPECT_TRUE(comparison.ok()) << (comparison.ok() ? "" : comparison.error().message);
        return comparison ? std::move(*comparison) : Comparison{};
    }
    std::unique_ptr<Store> store = std::move(*Store::open(":memory:"));
};

TEST_F(Repeats, OneRunEachCallsNoWinnerWithinWhatProcessesDifferBy) {
    add("a", 1000);
    add("b", 1010);
    add("c", 1400);
    const CompareRow near = compare({"a", "b"}).rows.at(0);
    EXPECT_LT(*near.ratioCiHigh, 1) << "within the processes the difference is certain";
    EXPECT_EQ(near.verdict, "same");
    EXPECT_EQ(near.reason, "within the " + formatSignificant(100 * near.leastDifference, 2) + " % that one run each cannot tell");
    EXPECT_EQ(compare({"a", "c"}).rows.at(0).verdict, "slower") << "40 % is more than that";
    EXPECT_EQ(judgeRegression(compare({"a", "b"}), 1), Judgement::cantTell) << "nobody can tell 1 % from one run each";
    EXPECT_EQ(judgeRegression(compare({"a", "b"}), 100 * near.leastDifference), Judgement::fine);
    EXPECT_EQ(judgeRegression(compare({"a", "c"}), 1), Judgement::regression);
}

TEST_F(Repeats, AGpusOwnTimeIsToldFinerThanTheHostsWhichEnqueues) {
    add("a", 8000, 2100);
    add("b", 12000, 2400);
    const Comparison comparison = compare({"a", "b"});
    ASSERT_EQ(comparison.rows.size(), 2u);
    EXPECT_EQ(comparison.rows[0].metric, "span_us");
    EXPECT_EQ(comparison.rows[0].verdict, "same") << "a step took 7.9 to 13.0 ms in ten processes of one program";
    EXPECT_EQ(comparison.rows[1].metric, "gpu_us");
    EXPECT_EQ(comparison.rows[1].verdict, "slower");
    EXPECT_LT(comparison.rows[1].leastDifference, comparison.rows[0].leastDifference);
}

TEST_F(Repeats, AGpuTimeWithoutSamplesIsJudgedByWhatIsKnownOfSuchTimes) {
    // As a profile keeps it: a figure made of medians of replays.
    for (const auto& [id, us] : {std::pair{"a", 2100.0}, {"b", 1200.0}, {"c", 2150.0}}) {
        RunHeader run;
        run.id = id;
        run.kind = "profile";
        run.environment["gpu"] = run.device = "a GPU";
        run.status = RunStatus::done;
        ASSERT_TRUE(store->createRun(run).ok());
        ProfileRow row{"decode", "type", "total", "total"};
        row.gpuUs = us;
        ASSERT_TRUE(store->putRow(id, {"profile", "total", valuesOf(row)}).ok());
    }
    const CompareRow faster = compare({"a", "b"}).rows.at(0);
    EXPECT_EQ(faster.verdict, "faster");
    EXPECT_FALSE(faster.ratioCiLow.has_value()) << "a bound is no interval";
    EXPECT_EQ(faster.reason, "more than the 5 % by which such times are known to differ between runs");
    EXPECT_EQ(compare({"a", "c"}).rows.at(0).verdict, "same");
}

TEST_F(Repeats, SeveralRunsEachTellWhatOneCannot) {
    for (const auto& [id, us] : {std::pair{"a1", 1000.0}, {"a2", 1004.0}, {"a3", 997.0}, {"b1", 950.0}, {"b2", 953.0}, {"b3", 948.0}, {"c1", 1002.0}, {"c2", 999.0}, {"c3", 1003.0}, {"n1", 900.0}, {"n2", 1100.0}, {"n3", 960.0}}) add(id, us);
    const Comparison faster = compare({"a1,a2,a3", "b1,b2,b3"});
    ASSERT_EQ(faster.rows.size(), 1u);
    EXPECT_EQ(faster.rows[0].verdict, "faster") << "5 %, ten times what the processes differ by";
    EXPECT_DOUBLE_EQ(*faster.rows[0].baseline, 1000) << "the median of the runs";
    EXPECT_EQ(faster.rows[0].candidateRun, "b1,b2,b3");
    EXPECT_EQ(faster.runs[0].header.id, "a1,a2,a3");
    EXPECT_EQ(compare({"a1,a2,a3", "c1,c2,c3"}).rows[0].verdict, "same");
    EXPECT_EQ(judgeRegression(compare({"b1,b2,b3", "a1,a2,a3"}), 1), Judgement::regression);
    EXPECT_EQ(judgeRegression(compare({"a1,a2,a3", "c1,c2,c3"}), 2), Judgement::fine);
    const CompareRow noisy = compare({"a1,a2,a3", "n1,n2,n3"}).rows[0];
    EXPECT_EQ(noisy.verdict, "cant_tell") << "what the candidate's processes differ by is in the interval";
    EXPECT_NE(noisy.reason.find("holds 1"), std::string::npos) << noisy.reason;
    EXPECT_EQ(compare({"a1,a2,a3", "b1"}).rows[0].verdict, "faster") << "the spread of the repeated side stands for both";
}

TEST_F(Repeats, WhatIsNoRepeatIsRefused) {
    add("a", 1000);
    add("b", 1000, 0, {{"prompt_tokens", 32}, {"patch", "rope=fused"}});
    add("c", 1000, 0, {{"prompt_tokens", 64}});
    const auto error = [&](std::vector<std::string> ids) { return compareRuns(*store, ids).error(); };
    EXPECT_EQ(error({"a,b", "c"}).message, "runs a and b are no repeats of one measurement: different settings");
    EXPECT_EQ(error({"a,c", "b"}).message, "runs a and c are no repeats of one measurement: different prompt_tokens: 32 and 64");
    EXPECT_EQ(error({"a,a", "b"}).message, "run a stands twice in a,a");
    EXPECT_EQ(error({"a,", "b"}).code, ErrorCode::badInput);
    EXPECT_EQ(error({"a,b"}).code, ErrorCode::usage);
}

TEST(RatioOfRuns, IsWelchsIntervalOfLogarithms) {
    // By hand: equal spreads of log 1.01, three runs each: 4 degrees of freedom, t = 2.776.
    const std::vector<double> slow{100 / 1.01, 100, 101}, fast{50 / 1.01, 50, 50.5};
    const Interval interval = ratioOfRuns(slow, fast);
    const double reach = 2.776 * std::log(1.01) * std::sqrt(2.0 / 3);
    EXPECT_NEAR(interval.low, 2 * std::exp(-reach), 1e-6);
    EXPECT_NEAR(interval.high, 2 * std::exp(reach), 1e-6);
    const Interval single = ratioOfRuns(slow, std::vector{50.0});
    EXPECT_NEAR(single.high, 2 * std::exp(4.303 * std::log(1.01) * std::sqrt(1 + 1.0 / 3)), 1e-6);
    EXPECT_TRUE(std::isnan(ratioOfRuns(std::vector{1.0}, std::vector{1.0}).low));
    EXPECT_TRUE(std::isnan(ratioOfRuns(std::vector{1.0, -1.0}, std::vector{1.0}).low));
    EXPECT_DOUBLE_EQ(ratioOfRuns(std::vector{2.0, 2.0}, std::vector{1.0, 1.0}).low, 2) << "no spread at all";
}

TEST(RatioOfRuns, HoldsTheTruthAboutAsOftenAsItSays) {
    // 400 comparisons of three runs with three of the same thing, whose processes differ by a few per cent.
    SeededGenerator random(7);
    const auto run = [&] {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(10'000)) / 10'000;
        return 1000 * std::exp(0.03 * (sum - 6));
    };
    int holds = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
        const std::vector<double> a{run(), run(), run()}, b{run(), run(), run()};
        holds += ratioOfRuns(a, b).contains(1);
    }
    EXPECT_GE(holds, kTrials * 93 / 100);
    EXPECT_LE(holds, kTrials * 995 / 1000);
}

TEST(FormatRatio, ShowsWhatTwoDigitsWouldHide) {
    EXPECT_EQ(formatRatio(0.998), "0.998x");
    EXPECT_EQ(formatRatio(1.0042), "1.004x");
    EXPECT_EQ(formatRatio(0.9996), "1.00x") << "as good as one";
    EXPECT_EQ(formatRatio(1), "1.00x");
    EXPECT_EQ(formatRatio(0.99), "0.99x");
    EXPECT_EQ(formatRatio(1.00000001), "1.00x");
}

}  // namespace
}  // namespace kernelscope
