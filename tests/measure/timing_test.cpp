// Rounds, the stop rule, and what figures become in a row: with scripted times, so that nothing depends on this machine.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <ATen/ATen.h>

#include "core/measure/sweep.h"
#include "core/measure/timing.h"

namespace kernelscope::test {
namespace {

class ScriptedCalls final : public PreparedCalls {
public:
    ScriptedCalls(std::string name, std::function<double(std::int64_t)> time, std::string& order) : m_name(std::move(name)), m_time(std::move(time)), m_order(order) {}
    double sampleUs() override {
        m_order += m_name;
        return m_time(m_calls++);
    }

private:
    std::string m_name;
    std::function<double(std::int64_t)> m_time;
    std::string& m_order;
    std::int64_t m_calls = 0;
};

class ScriptedMeter final : public Meter {
public:
    DeviceLimits limits() override { return {}; }
    Result<std::unique_ptr<PreparedCalls>> prepare(const Operator&, const Variant&, const Operands&, CacheMode) override {
        return makeError(ErrorCode::usage, "not asked for");
    }
    std::vector<double> callUs(const Operator&, const Variant& variant, const Operands&, CacheMode, std::int64_t count) override {
        turns.push_back(variant.name);
        const double us = callTime ? callTime(variant.name, turns.size()) : 1;
        return std::vector<double>(std::size_t(count), us);
    }
    std::vector<std::string> turns;
    std::function<double(const std::string&, std::size_t turn)> callTime;
};

double noise(std::int64_t i, double share) { return 1 + share * std::sin(12.9898 * static_cast<double>(i)); }

TEST(Rounds, GoForwardsAndBackwardsInTurn) {
    std::string order;
    ScriptedCalls a("a", [](std::int64_t) { return 1.0; }, order), b("b", [](std::int64_t) { return 2.0; }, order), c("c", [](std::int64_t) { return 3.0; }, order);
    std::vector<Contender> contenders{{nullptr, &a, {}}, {nullptr, &b, {}}, {nullptr, &c, {}}};
    ScriptedMeter meter;
    RoundOptions options;
    options.mostRounds = options.leastRounds = 4;
    measureRounds(meter, contenders, options);
    EXPECT_EQ(order, "abc" "abc" "cba" "abc" "cba") << "one untimed call each, then four rounds";
    EXPECT_EQ(contenders[1].samplesUs, (std::vector<double>{2, 2, 2, 2}));
}

/// Call times of two variants, `time` a call by name and turn.
std::vector<std::vector<double>> calls(ScriptedMeter& meter, std::int64_t count) {
    Variant a, b;
    a.name = "a";
    b.name = "b";
    const std::vector<Contender> contenders{{&a, nullptr, {}}, {&b, nullptr, {}}};
    const OperatorTable operators = builtinOperators();
    return measureCalls(meter, *operators.find("rms_norm"), contenders, {}, CacheMode::warm, count, [](const Variant&) {});
}

TEST(Calls, ComeInTurnsSoThatAStretchOfOtherWorkMovesNoMedian) {
    ScriptedMeter meter;
    meter.callTime = [](const std::string& name, std::size_t turn) { return turn == 2 ? 5000 : name == "a" ? 10 : 20; };  // the second turn is disturbed: b's first
    const auto samples = calls(meter, 200);
    EXPECT_EQ(meter.turns, (std::vector<std::string>{"a", "b", "b", "a", "a", "b", "b", "a"}));
    ASSERT_EQ(samples[1].size(), 200U);
    EXPECT_EQ(median(samples[0]), 10);
    EXPECT_EQ(median(samples[1]), 20);
}

TEST(Calls, AreFewerWhereTheyAreSlowAndAsManyAsAskedForWhereTheyAreNot) {
    ScriptedMeter meter;
    meter.callTime = [](const std::string& name, std::size_t) { return name == "a" ? 1e5 : 1.0; };  // a tenth of a second
    const auto samples = calls(meter, 50);
    EXPECT_EQ(samples[0].size(), 12U) << "1.2 s are enough";
    EXPECT_EQ(samples[1].size(), 50U);
    EXPECT_EQ(calls(meter, 2)[1].size(), 2U);
}

TEST(Rounds, StopWhenTheMediansAreKnownAndNotBefore) {
    const auto roundsFor = [](double share) {
        std::string order;
        ScriptedCalls a("a", [&](std::int64_t i) { return 5 * noise(i, share); }, order);
        std::vector<Contender> contenders{{nullptr, &a, {}}};
        ScriptedMeter meter;
        measureRounds(meter, contenders, {});
        return contenders[0].samplesUs.size();
    };
    EXPECT_EQ(roundsFor(0.0005), 20U) << "the least there are";
    EXPECT_EQ(roundsFor(0.2), 200U) << "the most there are";
    const std::size_t between = roundsFor(0.01);
    EXPECT_GT(between, 20U);
    EXPECT_LT(between, 200U);
}

TEST(Rounds, EndWhenTimeIsUp) {
    std::string order;
    ScriptedCalls a("a", [](std::int64_t i) { return 5 * noise(i, 0.2); }, order);
    std::vector<Contender> contenders{{nullptr, &a, {}}};
    ScriptedMeter meter;
    RoundOptions options;
    int left = 7;
    options.outOfTime = [&] { return --left <= 0; };
    measureRounds(meter, contenders, options);
    EXPECT_EQ(contenders[0].samplesUs.size(), 8U);
}

TEST(Rounds, GiveTheSameFigureHoweverManyCallsTheMachineNeedsToGetUpToSpeed) {
    // Clocks that rise: the first calls take 1.3 times as long.
    const auto figureAfter = [](std::int64_t slowCalls) {
        std::string order;
        ScriptedCalls a("a", [&](std::int64_t i) { return (i < slowCalls ? 1.3 : 1.0) * 5 * noise(i, 0.002); }, order);
        std::vector<Contender> contenders{{nullptr, &a, {}}};
        ScriptedMeter meter;
        measureRounds(meter, contenders, {});
        return median(contenders[0].samplesUs);
    };
    const double warm = figureAfter(0);
    for (const std::int64_t slow : {1, 5, 10}) EXPECT_NEAR(figureAfter(slow) / warm, 1, 0.01) << slow << " slow calls";
}

TEST(MedianByRanks, CoversTheMedianAboutNineteenTimesInTwenty) {
    SeededGenerator random(1);
    int covered = 0;
    constexpr int kTries = 400;
    for (int i = 0; i < kTries; ++i) {
        std::vector<double> samples;
        for (int k = 0; k < 41; ++k) samples.push_back(static_cast<double>(random.below(1'000'000)) / 1e6);
        covered += medianByRanks(samples).contains(0.5) ? 1 : 0;
    }
    EXPECT_GT(covered, kTries * 90 / 100);
    EXPECT_LT(covered, kTries);
}

TEST(Verdict, ClaimsNothingWhenTheIntervalHoldsOne) {
    EXPECT_EQ(verdictOf(1.5, {1.4, 1.6}).word, "faster");
    EXPECT_EQ(verdictOf(0.8, {0.7, 0.9}).word, "slower");
    EXPECT_EQ(verdictOf(1.001, {0.995, 1.006}).word, "same");
    const Verdict open = verdictOf(1.05, {0.96, 1.15});
    EXPECT_EQ(open.word, "cant_tell");
    EXPECT_NE(open.reason.find("0.960 to 1.150"), std::string::npos) << open.reason;
    EXPECT_EQ(verdictOf(std::nan(""), {0, 0}).word, "cant_tell");
}

CellFigures figuresOf(const std::vector<double>& us) {
    CellFigures figures;
    figures.deviceUs = us;
    figures.callUs = 30;
    figures.work = {4e6, 1e6};
    figures.limits = {4e12, 1.0, 0.6};
    return figures;
}

TEST(SweepRow, HoldsTimesRatesAndTheShareOfWhatTheDeviceCanDo) {
    const std::vector<double> us{2.0, 2.01, 1.99, 2.0, 2.0, 2.005, 1.995};
    SweepRow row;
    row.status = "ok";
    row.cache = "cold";
    describeTimes(figuresOf(us), row);
    EXPECT_EQ(row.deviceUs, 2.0);
    EXPECT_EQ(row.callUs, 30);
    EXPECT_DOUBLE_EQ(*row.gbPerS, 2000);
    EXPECT_DOUBLE_EQ(*row.limitPct, 50) << "4 MB at 4 TB/s take 1 us, as does an empty kernel";
    EXPECT_LE(*row.deviceCiLowUs, 2.0);
    EXPECT_GE(*row.deviceCiHighUs, 2.0);
    EXPECT_EQ(row.status, "ok");
}

TEST(SweepRow, AProgrammaticKernelIsHeldAgainstTheFloorOfItsKind) {
    const std::vector<double> us(20, 1.2);
    CellFigures figures = figuresOf(us);
    figures.work.bytes = 100;
    SweepRow plain, programmatic;
    describeTimes(figures, plain);
    figures.programmatic = true;
    describeTimes(figures, programmatic);
    EXPECT_NEAR(*plain.limitPct, 100 * 1.0 / 1.2, 1e-9);
    EXPECT_NEAR(*programmatic.limitPct, 100 * 0.6 / 1.2, 1e-9);
}

TEST(SweepRow, BeatingThePhysicalLimitIsAnAlarmNotAHeadline) {
    const std::vector<double> us(20, 0.29);
    SweepRow cold;
    cold.status = "ok";
    cold.cache = "cold";
    describeTimes(figuresOf(us), cold);
    EXPECT_EQ(cold.status, "noisy");
    EXPECT_NE(cold.reason.find("alarm: 3.4 times"), std::string::npos) << cold.reason;
    SweepRow baseline = cold;
    const std::vector<double> slow(20, 3.0);
    baseline.deviceUs = 3.0;
    compareWithBaseline(slow, baseline, us, cold);
    EXPECT_EQ(cold.verdict, "cant_tell");

    CellFigures figures = figuresOf(us);
    figures.mode = CacheMode::warm;
    SweepRow warm;
    warm.status = "ok";
    warm.cache = "warm";
    describeTimes(figures, warm);
    EXPECT_EQ(warm.status, "ok");
    EXPECT_NE(warm.reason.find("the cold figure"), std::string::npos) << warm.reason;
}

TEST(SweepRow, AThrottledCellKeepsItsFiguresAndSaysSo) {
    const std::vector<double> us(20, 2.0);
    CellFigures figures = figuresOf(us);
    figures.throttled = true;
    SweepRow row;
    row.status = "ok";
    describeTimes(figures, row);
    EXPECT_EQ(row.status, "throttled");
    EXPECT_EQ(row.deviceUs, 2.0);
    EXPECT_FALSE(row.reason.empty());
}

TEST(SweepRow, SpeedupIsExactlyTheRatioOfTheTwoRows) {
    std::vector<double> slow, fast;
    for (std::int64_t i = 0; i < 40; ++i) {
        slow.push_back(6 * noise(i, 0.01));
        fast.push_back(4 * noise(i + 5, 0.01));
    }
    SweepRow baseline, row;
    baseline.status = row.status = "ok";
    CellFigures figures = figuresOf(slow);
    describeTimes(figures, baseline);
    figures = figuresOf(fast);
    figures.callUs = 10;
    describeTimes(figures, row);
    compareWithBaseline(slow, baseline, slow, baseline);
    compareWithBaseline(slow, baseline, fast, row);
    EXPECT_EQ(*baseline.speedup, 1);
    EXPECT_EQ(*row.speedup, *baseline.deviceUs / *row.deviceUs);
    EXPECT_EQ(*row.callSpeedup, 3);
    EXPECT_EQ(row.verdict, "faster");
    EXPECT_LT(*row.speedupCiLow, *row.speedup);
    EXPECT_GT(*row.speedupCiHigh, *row.speedup);
}

TEST(CpuMeter, TimesEveryVariantInEveryStateOfTheCache) {
    const OperatorTable operators = builtinOperators();
    const auto meter = makeCpuMeter();
    const DeviceLimits limits = meter->limits();
    EXPECT_GT(limits.copyBytesPerSecond, 1e8);
    for (const auto& op : operators.all()) {
        const Operands example = op->example(shapeFor(112, 4), at::kFloat, 1, Content::ordinary);
        for (const Variant& variant : op->variants()) {
            if (!variant.supports(at::kCPU)) continue;
            for (const CacheMode mode : {CacheMode::cold, CacheMode::warm, CacheMode::chain}) {
                auto calls = meter->prepare(*op, variant, example, mode);
                ASSERT_TRUE(calls) << op->name() << "=" << variant.name << ": " << calls.error().message;
                EXPECT_GT((*calls)->sampleUs(), 0);
            }
            EXPECT_EQ(meter->callUs(*op, variant, example, CacheMode::cold, 5).size(), 5U);
        }
    }
}

TEST(CpuMeter, AChainReadsWhatTheCallBeforeWroteAndBeginsAnewBeforeItDecays) {
    const OperatorTable operators = builtinOperators();
    const Operator& op = *operators.find("silu_mul");
    const Operands example = op.example(shapeFor(112, 4), at::kFloat, 1, Content::ordinary);
    Variant watched = *op.find("native");
    std::int64_t links = 0, calls = 0, chain = 0, longest = 0;
    at::Tensor last;  // held, so that its memory is nobody else's
    watched.run = [&, native = watched.run](const Operands& o) {
        const bool linked = last.defined() && o.inputs[0].const_data_ptr() == last.const_data_ptr();
        chain = linked ? chain + 1 : 0;
        longest = std::max(longest, chain);
        links += linked ? 1 : 0;
        ++calls;
        Result<Tensors> results = native(o);
        if (results) last = results->front();
        return results;
    };
    (void)makeCpuMeter()->callUs(op, watched, example, CacheMode::chain, 50);
    EXPECT_GT(links, calls * 3 / 4);
    EXPECT_LT(longest, 20);
    links = calls = chain = longest = 0;
    const auto meter = makeCpuMeter();
    const auto prepared = meter->prepare(op, watched, example, CacheMode::chain);
    ASSERT_TRUE(prepared);
    for (int i = 0; i < 50; ++i) (void)(*prepared)->sampleUs();
    EXPECT_GT(links, calls / 2);
    EXPECT_LT(longest, 20);
}

#if defined(__x86_64__)
TEST(CpuMeter, AColdCallsResultsAreColdWhoeverAllocatedThem) {
    const OperatorTable operators = builtinOperators();
    const Operator& op = *operators.find("rms_norm");
    const Operands example = op.example(shapeFor(896, 64), at::kFloat, 1, Content::ordinary);
    // Half a mebibyte in lines of eight, each of which names the next: no load can begin before the one before has come.
    constexpr std::int64_t kLines = 8192;
    const at::Tensor result = at::zeros({8 * kLines}, at::kLong);
    for (std::int64_t line = 0; line < kLines; ++line) result.data_ptr<std::int64_t>()[8 * line] = (line * 5 + 4099) % kLines;
    std::vector<double> walks;
    Variant walking = *op.find("native");
    walking.run = [&](const Operands&) -> Result<Tensors> {
        const std::int64_t* lines = result.const_data_ptr<std::int64_t>();
        const auto begin = std::chrono::steady_clock::now();
        std::int64_t line = 0;
        for (int i = 0; i < 256; ++i) line = lines[8 * line];
        EXPECT_LT(line, kLines);
        walks.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        return Tensors{result};
    };
    const auto leastOfCalls = [&](CacheMode mode) {
        walks.clear();
        (void)makeCpuMeter()->callUs(op, walking, example, mode, 40);
        return *std::min_element(walks.begin() + 1, walks.end());
    };
    const auto leastOfSamples = [&](CacheMode mode) {
        const auto meter = makeCpuMeter();
        const auto prepared = meter->prepare(op, walking, example, mode);
        EXPECT_TRUE(prepared);
        double least = 1e9;
        for (int i = 0; prepared && i < 40; ++i) {
            walks.clear();
            (void)(*prepared)->sampleUs();
            if (i > 0) least = std::min(least, walks.front());  // before the first sample nothing had been given back
        }
        return least;
    };
    EXPECT_GT(leastOfCalls(CacheMode::cold), 2 * leastOfCalls(CacheMode::warm));
    EXPECT_GT(leastOfSamples(CacheMode::cold), 2 * leastOfSamples(CacheMode::warm));
}
#endif

TEST(CpuMeter, ARefusalIsAnErrorInWords) {
    const OperatorTable operators = builtinOperators();
    const Operator& op = *operators.find("rms_norm");
    Operands example = op.example(shapeFor(112, 4), at::kDouble, 1, Content::ordinary);
    const auto calls = makeCpuMeter()->prepare(op, *op.find("fused"), example, CacheMode::warm);
    ASSERT_FALSE(calls);
    EXPECT_NE(calls.error().message.find("float32"), std::string::npos) << calls.error().message;
}

}  // namespace
}  // namespace kernelscope::test
