#include "core/measure/span_round.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

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
        const auto spend = [&](double us) { clock.nowUs += us; };
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

    std::vector<ModuleInfo> tree;
    ScriptedClock clock;
    Hooks hooks;
    int slowLayer = -1;

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

TEST_F(EngineSpanRound, OnACpuEveryPassSeesAllLayers) {
    EXPECT_EQ(turnsOf(tree, ProfileLevel::type, false), 1);
    EXPECT_EQ(turnsOf(tree, ProfileLevel::type, true), 3);
}

}  // namespace
}  // namespace kernelscope
