#include "core/measure/span_recorder.h"

#include <chrono>

#include <gtest/gtest.h>

#include "tests/engine/scripted_clock.h"
#include "tests/engine/small_tree.h"

namespace kernelscope {
namespace {

using namespace test;

class EngineSpans : public testing::Test {
protected:
    void spend(double us) { clock.nowUs += us; }
    /// embedding 5, 1 of nobody, norm 10, attention 3 + projection 20 + 4, mlp 30, head 40, 2 of nobody
    void pass() {
        hooks.call(tree[kRoot], [&] {
            hooks.call(tree[kEmbedding], [&] { spend(5); });
            spend(1);
            hooks.call(tree[kLayer], [&] {
                hooks.call(tree[kNorm], [&] { spend(10); });
                hooks.call(tree[kAttention], [&] {
                    spend(3);
                    hooks.call(tree[kProjection], [&] { spend(20); });
                    spend(4);
                });
                hooks.call(tree[kMlp], [&] { spend(30); });
            });
            hooks.call(tree[kHead], [&] { spend(40); });
        });
        spend(2);
    }
    PassSpans record(ProfileLevel level) {
        SpanRecorder recorder(tree, level, clock, false);
        hooks.add(&recorder);
        recorder.beginPass();
        pass();
        recorder.endPass();
        hooks.remove(&recorder);
        return recorder.read();
    }

    const std::vector<ModuleInfo> tree = smallTree();
    ScriptedClock clock;
    Hooks hooks;
};

TEST_F(EngineSpans, TypeLevelTimesTheOutermostModuleOfEachType) {
    const PassSpans spans = record(ProfileLevel::type);
    EXPECT_DOUBLE_EQ(spans.totalUs, 115);
    ASSERT_EQ(spans.visits.size(), 5U);
    EXPECT_EQ(spans.visits[2].module, kAttention);
    EXPECT_DOUBLE_EQ(spans.visits[2].spanUs, 27);
    EXPECT_DOUBLE_EQ(spans.visits[2].selfUs, 27);
    EXPECT_DOUBLE_EQ(spans.visits[2].beginUs, 16);
}

TEST_F(EngineSpans, LeafLevelTakesTheChildrenOffTheParent) {
    const PassSpans spans = record(ProfileLevel::leaf);
    ASSERT_EQ(spans.visits.size(), 6U);
    EXPECT_EQ(spans.visits[2].module, kAttention);
    EXPECT_DOUBLE_EQ(spans.visits[2].spanUs, 27);
    EXPECT_DOUBLE_EQ(spans.visits[2].selfUs, 7);
    EXPECT_EQ(spans.visits[3].module, kProjection);
    EXPECT_DOUBLE_EQ(spans.visits[3].selfUs, 20);
}

TEST_F(EngineSpans, BlockLevelTimesLayersAndWhatStandsBesideThem) {
    const PassSpans spans = record(ProfileLevel::block);
    ASSERT_EQ(spans.visits.size(), 3U);
    EXPECT_EQ(spans.visits[1].module, kLayer);
    EXPECT_DOUBLE_EQ(spans.visits[1].selfUs, 67);
}

/// The host's clock, as the test sets it.
std::chrono::steady_clock::time_point hostTime;
std::chrono::steady_clock::time_point hostNow() noexcept { return hostTime; }

/// Norm and MLP with work in each, and `between` of the host's time between the two.
class EngineSharedBorders : public EngineSpans {
protected:
    void hostSpends(int us) { hostTime += std::chrono::microseconds(us); }
    std::size_t marksOf(int betweenUs) {
        hooks.add(&recorder);
        recorder.beginPass();
        hostSpends(1);
        hooks.call(tree[kNorm], [&] { hostSpends(50); });
        hostSpends(betweenUs);
        hooks.call(tree[kMlp], [&] { hostSpends(50); });
        recorder.endPass();
        hooks.remove(&recorder);
        return clock.marks.size();
    }
    SpanRecorder recorder{tree, ProfileLevel::leaf, clock, true, hostNow};
};

TEST_F(EngineSharedBorders, NeighboursShareOneWhenTheHostDidNothingBetweenThem) {
    EXPECT_EQ(marksOf(1), 3U) << "begin of the pass and of the norm, border of both, end of both";
}

TEST_F(EngineSharedBorders, WhereTheHostEnqueuedSomethingEachHasItsOwn) {
    for (int pass = 0; pass < 20; ++pass) EXPECT_EQ(marksOf(5), 4U);
}

TEST_F(EngineSharedBorders, AHostThatIsHeldUpNowAndThenCostsNoBorderOnceItIsKnown) {
    EXPECT_EQ(marksOf(30), 4U);
    EXPECT_EQ(marksOf(1), 3U);
    EXPECT_EQ(marksOf(30), 3U) << "passes are alike: nothing was enqueued there before";
    for (int pass = 0; pass < 20; ++pass) EXPECT_EQ(marksOf(30), 3U);
}

TEST_F(EngineSharedBorders, APassOfAnotherShapeIsLearntAnew) {
    for (int pass = 0; pass < 20; ++pass) (void)marksOf(1);
    hooks.add(&recorder);
    for (int pass = 0; pass < 3; ++pass) {
        recorder.beginPass();
        hooks.call(tree[kNorm], [&] { hostSpends(50); });
        hostSpends(9);
        hooks.call(tree[kHead], [&] { hostSpends(50); });
        recorder.endPass();
        EXPECT_EQ(clock.marks.size(), pass == 0 ? 5U : 4U) << "in doubt each has its own";
    }
    hooks.remove(&recorder);
}

TEST_F(EngineSharedBorders, HostTimesAreTakenWhereTheyAreAskedFor) {
    (void)marksOf(7);
    EXPECT_DOUBLE_EQ(recorder.read().visits[1].hostBeginUs, 58);
    EXPECT_DOUBLE_EQ(recorder.read().visits[1].hostEndUs, 108);
    hooks.add(&recorder);
    recorder.beginPass(/*hostTimes=*/false);
    hooks.call(tree[kNorm], [&] { hostSpends(50); });
    recorder.endPass();
    hooks.remove(&recorder);
    EXPECT_DOUBLE_EQ(recorder.read().visits[0].hostEndUs, 0);
}

TEST_F(EngineSpans, APassThatThrowsLeavesNothingBehindForTheNext) {
    SpanRecorder recorder(tree, ProfileLevel::leaf, clock, false);
    hooks.add(&recorder);
    recorder.beginPass();
    EXPECT_THROW(hooks.call(tree[kNorm], [&] { throw std::runtime_error("kernel failed"); }), std::runtime_error);
    recorder.beginPass();
    pass();
    recorder.endPass();
    EXPECT_EQ(recorder.read().visits.size(), 6U);
}

}  // namespace
}  // namespace kernelscope
