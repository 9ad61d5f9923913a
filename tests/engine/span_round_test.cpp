#include "core/measure/span_round.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "core/measure/span_profile.h"
#include "tests/engine/scripted_clock.h"

namespace kernelscope {
namespace {

using test::ScriptedClock;

/// The host takes some time for everything, so that every border is its own.
std::chrono::steady_clock::time_point hostTime;
std::chrono::steady_clock::time_point busyHost() noexcept { return hostTime += std::chrono::microseconds(10); }

/// An embedding of 50 us, then layers (a norm of 10 + layer, nobody's 2, an attention of 100 + layer), a head of 300 and 7 of nobody.
class EngineSpanRound : public testing::Test {
protected:
    explicit EngineSpanRound(int layers = 8) : m_layers(layers) {
        const auto add = [&](int parent, int layer, int depth, ModuleType type, const std::string& path) {
            tree.push_back({static_cast<int>(tree.size()), parent, layer, depth, type, type != ModuleType::none, path});
        };
        add(-1, -1, 0, ModuleType::none, "model_forward");
        add(0, -1, 1, ModuleType::embedding, "embed");
        for (int layer = 0; layer < layers; ++layer) {
            const int parent = static_cast<int>(tree.size());
            add(0, layer, 1, ModuleType::none, "layer");
            add(parent, layer, 2, ModuleType::rmsNorm, "norm");
            add(parent, layer, 2, ModuleType::attention, "attention");
        }
        add(0, -1, 1, ModuleType::lmHead, "head");
    }
    static int norm(int layer) { return 3 * layer + 3; }
    static int attention(int layer) { return 3 * layer + 4; }
    [[nodiscard]] int head() const { return static_cast<int>(tree.size()) - 1; }

    void pass() {
        const auto spend = [&](double us) {
            clock.nowUs += us;
            // Longer than what counts as nothing enqueued, where the host's own clock is looked at.
            for (const auto began = std::chrono::steady_clock::now(); spins && std::chrono::steady_clock::now() - began < std::chrono::microseconds(3);) {}
        };
        hooks.call(tree[0], [&] {
            hooks.call(tree[1], [&] { spend(50); });
            for (int layer = 0; layer < m_layers; ++layer) {
                hooks.call(tree[static_cast<std::size_t>(norm(layer) - 1)], [&] {
                    hooks.call(tree[static_cast<std::size_t>(norm(layer))], [&] { spend(10 + layer); });
                    spend(2);
                    hooks.call(tree[static_cast<std::size_t>(attention(layer))], [&] { spend(100 + layer + (layer == slowLayer ? 1000 : 0)); });
                });
            }
            hooks.call(tree[static_cast<std::size_t>(head())], [&] { spend(300); });
        });
        spend(7);
    }
    PassSpans record(std::optional<int> turn, ProfileLevel level = ProfileLevel::type) {
        SpanRecorder recorder(tree, level, clock, true, busyHost, 3);
        recorder.setTurn(turn);
        hooks.add(&recorder);
        recorder.beginPass();
        pass();
        recorder.endPass();
        hooks.remove(&recorder);
        return recorder.read();
    }
    PassSpans recordRound(ProfileLevel level = ProfileLevel::type) {
        return joinRound({record(0, level), record(1, level), record(2, level)}, tree);
    }
    static std::map<int, double> selfUs(const PassSpans& pass) {
        std::map<int, double> byModule;
        for (const Visit& visit : pass.visits) byModule[visit.module] += visit.selfUs;
        return byModule;
    }
    static double unattributedUs(const PassSpans& pass) {
        double rest = pass.totalUs;
        for (const Visit& visit : pass.visits) rest -= visit.selfUs;
        return rest;
    }

    /// Whole runs on a queue, with their clock. `cancelAfter`: passes; 0: never.
    SpanProfile measure(std::int64_t iterations, std::int64_t warmup, int cancelAfter = 0) {
        spins = true;
        std::stop_source stop;
        SpanProfileEvents events;
        events.passDone = [&](std::int64_t done, std::int64_t total) {
            marksMade.push_back(clock.made);
            announced = total;
            if (done == cancelAfter) stop.request_stop();
        };
        return measureSpans("decode", [&] { pass(); }, tree, hooks, clock, true, {ProfileLevel::type, iterations, warmup}, events, stop.get_token());
    }
    static std::int64_t count(const SpanTable& table, const std::string& metric, const std::string& key) {
        const std::vector<SampleRow> samples = table.samples();
        return std::count_if(samples.begin(), samples.end(), [&](const SampleRow& sample) { return sample.metric == metric && sample.rowKey == table.keyOf(key); });
    }

    std::vector<ModuleInfo> tree;
    ScriptedClock clock;
    Hooks hooks;
    int slowLayer = -1;
    bool spins = false;
    std::vector<std::size_t> marksMade;  // in all, by pass
    std::int64_t announced = 0;          // passes

private:
    int m_layers;
};

TEST_F(EngineSpanRound, AMarkThatCostsNothingGivesTheSpansOfAPassWithBordersInAllLayers) {
    for (const ProfileLevel level : {ProfileLevel::type, ProfileLevel::block}) {
        const PassSpans whole = record(std::nullopt, level), joined = recordRound(level);
        EXPECT_DOUBLE_EQ(joined.totalUs, whole.totalUs);
        ASSERT_EQ(joined.visits.size(), whole.visits.size());
        const auto expected = selfUs(whole), found = selfUs(joined);
        for (const auto& [module, us] : expected) EXPECT_NEAR(found.at(module), us, 1e-9) << tree[static_cast<std::size_t>(module)].path;
        EXPECT_NEAR(unattributedUs(joined), level == ProfileLevel::type ? 8 * 2 + 7 : 7, 1e-9);
    }
}

TEST_F(EngineSpanRound, APassOfARoundHasBordersInItsOwnLayersAndBesideTheLayers) {
    const PassSpans pass = record(1);
    std::vector<int> modules;
    for (const Visit& visit : pass.visits) modules.push_back(visit.module);
    EXPECT_EQ(modules, (std::vector<int>{1, norm(1), attention(1), norm(4), attention(4), norm(7), attention(7), head()}));
}

TEST_F(EngineSpanRound, ARoundsPassesPayForAThirdOfTheLayersAndItsSharesAreNoFurtherOff) {
    const PassSpans free = record(std::nullopt);
    clock.markCostUs = 4;
    const PassSpans whole = record(std::nullopt), joined = recordRound();
    EXPECT_LT(joined.totalUs - free.totalUs, 0.6 * (whole.totalUs - free.totalUs));
    const auto truth = selfUs(free), all = selfUs(whole), third = selfUs(joined);
    for (const auto& [module, us] : truth) {
        const double share = us / free.totalUs;
        EXPECT_LE(std::abs(third.at(module) / joined.totalUs - share), std::abs(all.at(module) / whole.totalUs - share) + 0.0005) << module;
    }
}

TEST_F(EngineSpanRound, TimeOfALayerThatHasNoBordersIsNobodysNeither) {
    std::vector<PassSpans> round{record(0)};
    slowLayer = 3;  // a host that is taken away in the middle of a layer without borders
    round.push_back(record(1));
    slowLayer = -1;
    round.push_back(record(2));
    const PassSpans joined = joinRound(round, tree);
    EXPECT_NEAR(joined.totalUs, record(std::nullopt).totalUs + 1000.0 / 3, 1e-9);
    EXPECT_NEAR(unattributedUs(joined) / joined.totalUs, (8 * 2 + 7) / record(std::nullopt).totalUs, 1e-9);
}

class EngineSpanRoundOfTwoLayers : public EngineSpanRound {
protected:
    EngineSpanRoundOfTwoLayers() : EngineSpanRound(2) {}
};

TEST_F(EngineSpanRoundOfTwoLayers, OfFewLayersEveryPassSeesAll) {
    EXPECT_EQ(turnsOf(tree, ProfileLevel::type, true), 1);
    const PassSpans whole = record(std::nullopt);
    EXPECT_EQ(joinRound({whole}, tree).visits.size(), whole.visits.size());
}

TEST_F(EngineSpanRound, OperatorsBelongToNoLayerSoEveryPassSeesAllTheirCalls) {
    tree.push_back({static_cast<int>(tree.size()), -1, -1, 0, ModuleType::none, false, "op:rms_norm", true});
    EXPECT_EQ(turnsOf(tree, ProfileLevel::op, true), 1);
}

TEST_F(EngineSpanRound, WhatStandsBesideTheLayersMayComeTwiceInAPass) {
    const auto pass = [&](double first, double second) { return PassSpans{first + second, {{1, 0, first, first, 0, 0, 1, 1}, {1, first, second, second, 0, 0, 1, 1}}}; };
    const PassSpans joined = joinRound({pass(10, 20), pass(11, 21), pass(12, 22)}, tree);
    ASSERT_EQ(joined.visits.size(), 2U);
    EXPECT_NEAR(joined.visits[0].spanUs, 11, 1e-9);
    EXPECT_NEAR(joined.visits[1].spanUs, 21, 1e-9);
}

TEST_F(EngineSpanRound, ARunOnAQueueIsMadeOfWholeRoundsWhateverItsLength) {
    const PassSpans whole = record(std::nullopt);
    const auto expected = selfUs(whole);
    for (const std::int64_t iterations : {1, 4, 6}) {
        marksMade.clear();
        const SpanProfile run = measure(iterations, 0);
        const std::int64_t rounds = (iterations + 2) / 3;
        EXPECT_EQ(static_cast<std::int64_t>(marksMade.size()), announced) << iterations;
        EXPECT_EQ(count(run.table, "self_span_us", "Attention"), rounds);
        EXPECT_EQ(count(run.table, "span_us", "total"), 3 * rounds);
        EXPECT_EQ(count(run.table, "plain_span_us", "total"), 3 * rounds);
        const auto medians = run.table.medianSelfByModule();
        for (const auto& [module, us] : expected) EXPECT_NEAR(medians[static_cast<std::size_t>(module)].value_or(0), us, 1e-9) << tree[static_cast<std::size_t>(module)].path;
        EXPECT_EQ(run.lastPass.visits.size(), whole.visits.size());
    }
}

TEST_F(EngineSpanRound, NoMeasuredPassMakesAMarkThatWasNotThereBefore) {
    (void)measure(4, 0);
    EXPECT_EQ(marksMade.back(), marksMade.front());
    EXPECT_GE(marksMade.front(), record(std::nullopt).visits.size());
}

TEST_F(EngineSpanRound, ARunThatIsCancelledInTheMiddleOfARoundKeepsTheRoundsBefore) {
    for (const int passes : {2, 7, 8, 9, 11}) {  // the first, then pairs; the sixth ends a round
        marksMade.clear();
        const SpanProfile run = measure(30, 0, passes);
        EXPECT_EQ(count(run.table, "self_span_us", "Attention"), passes < 6 ? 0 : 1) << passes;
        EXPECT_TRUE(run.lastPass.visits.empty());
        for (const ProfileRow& row : run.table.rows(true)) {
            if (row.name == "Attention") { EXPECT_NEAR(row.selfSpanUs.value(), 8 * 100 + 28, 1e-9); }
        }
    }
}

TEST_F(EngineSpanRound, OnACpuEveryPassSeesAllLayers) {
    EXPECT_EQ(turnsOf(tree, ProfileLevel::type, false), 1);
    EXPECT_EQ(turnsOf(tree, ProfileLevel::type, true), 3);
}

}  // namespace
}  // namespace kernelscope
