#include "core/measure/held_stream.h"

#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "core/measure/cross_check.h"
#include "core/measure/gpu_columns.h"
#include "core/measure/timeline.h"

namespace kernelscope {
namespace {

constexpr int kLayers = 9;
constexpr double kBorderUs = 2;

/// The model, then kLayers of a norm and an MLP, then the head.
std::vector<ModuleInfo> layeredTree() {
    std::vector<ModuleInfo> tree;
    const auto add = [&](int parent, int layer, int depth, ModuleType type, std::string path) {
        const int index = static_cast<int>(tree.size());
        tree.push_back({index, parent, layer, depth, type, type != ModuleType::none, std::move(path)});
        return index;
    };
    add(-1, -1, 0, ModuleType::none, "model_forward");
    for (int layer = 0; layer < kLayers; ++layer) {
        const std::string path = "model.layers." + std::to_string(layer);
        const int at = add(0, layer, 1, ModuleType::none, path);
        add(at, layer, 2, ModuleType::rmsNorm, path + ".input_layernorm");
        add(at, layer, 2, ModuleType::mlp, path + ".mlp");
    }
    add(0, -1, 1, ModuleType::lmHead, "lm_head");
    return tree;
}

/// The host's clock: enqueuing anything takes it 5 us, everything else nothing.
std::chrono::steady_clock::time_point hostTime;
std::chrono::steady_clock::time_point hostNow() noexcept { return hostTime; }

/// A device that a test drives: a border takes it kBorderUs, a hold the host's time, which must not count.
class ScriptedDevice final : public BorderClock, public HeldQueue {
public:
    double nowUs = 0;
    int holds = 0, letGo = 0, late = 0;

    void work(double us) {
        nowUs += us;
        hostTime += std::chrono::microseconds(5);
    }

    void reset() override { m_marks.clear(); }
    int mark() override {
        m_marks.push_back(nowUs += kBorderUs);
        return static_cast<int>(m_marks.size()) - 1;
    }
    void wait() override {}
    double betweenUs(int a, int b) const override { return m_marks.at(static_cast<std::size_t>(b)) - m_marks.at(static_cast<std::size_t>(a)); }

    void hold() override {
        letGo = holds++;
        nowUs += 5'000;
    }
    void release() override { letGo = holds; }
    int timedOut() override { return std::exchange(late, 0); }

private:
    std::vector<double> m_marks;
};

class EngineHeldStream : public testing::Test {
protected:
    Pass pass() {
        return [this] {
            hooks.call(tree[0], [&] {
                for (int layer = 0; layer < kLayers; ++layer) {
                    const auto at = static_cast<std::size_t>(1 + 3 * layer);
                    hooks.call(tree[at], [&] {
                        hooks.call(tree[at + 1], [&] { device.work(3); });
                        hooks.call(tree[at + 2], [&] { device.work(20); });
                    });
                }
                hooks.call(tree.back(), [&] { device.work(40); });
            });
            device.work(7);  // of nobody
        };
    }
    Result<GraphProfile> measured(HeldStreamOptions options = {}) {
        options.hostNow = hostNow;
        return measureHeldStream(pass(), tree, hooks, device, device, options, {}, {});
    }

    const std::vector<ModuleInfo> tree = layeredTree();
    ScriptedDevice device;
    Hooks hooks;
};

TEST_F(EngineHeldStream, HoldsAnewEveryFewLayersAndLetsEverythingGoAtTheEnd) {
    SpanRecorder recorder(tree, ProfileLevel::leaf, device, false);
    const HeldPass held = runHeld(pass(), hooks, recorder, device, device);
    EXPECT_EQ(held.stretches, 3) << "4, 4 and 1 layers";
    EXPECT_EQ(device.holds, 3);
    EXPECT_EQ(device.letGo, 3);
}

TEST_F(EngineHeldStream, NeitherTheHoldsNorTheBordersAreInTheTimes) {
    const Result<GraphProfile> profile = measured();
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_NEAR(profile->markCostUs, kBorderUs, 1e-9);
    EXPECT_NEAR(profile->plainUs, kLayers * 23 + 40 + 7, 1e-6);
    EXPECT_NEAR(profile->conservationPct, 0, 1e-6);
    EXPECT_TRUE(profile->warnings.empty());
    std::vector<double> gpu = selfGpuByModule(*profile, tree.size());
    EXPECT_NEAR(gpu[2], 3, 1e-6);
    EXPECT_NEAR(gpu[3], 20, 1e-6);
    EXPECT_NEAR(gpu.back(), 40, 1e-6);
    EXPECT_NEAR(profile->nodes.back().backToBackUs, 7, 1e-6) << "what no module covers";
}

TEST_F(EngineHeldStream, RowsHaveGpuTimeAndGapsButNoKernels) {
    SpanTable table("decode", ProfileLevel::type, tree);
    SpanRecorder recorder(tree, ProfileLevel::type, device, false);
    hooks.add(&recorder);
    recorder.beginPass();
    pass()();
    recorder.endPass();
    hooks.remove(&recorder);
    const PassSpans spans = recorder.read();
    table.addInstrumented(spans);
    std::vector<ProfileRow> rows = table.rows(false);
    const Result<GraphProfile> profile = measured();
    ASSERT_TRUE(profile);
    addGpuColumns(rows, *profile, tree, ProfileLevel::type);
    double share = 0;
    for (const ProfileRow& row : rows) {
        if (row.name == "profiler tax") continue;
        EXPECT_TRUE(row.gpuUs) << row.name;
        EXPECT_FALSE(row.kernels || row.kernelUs) << row.name;
        if (row.name == "total") {
            EXPECT_NE(row.note.find("held stream"), std::string::npos);
        } else {
            share += row.gpuSharePct.value();
        }
    }
    EXPECT_NEAR(share, 100, 1e-6);
    EXPECT_FALSE(crossCheck("decode", *profile, {{}}, tree)) << "no kernels to compare";
    for (const ProfileEventRow& event : eventRows("decode", spans, &*profile, tree)) EXPECT_NE(event.track, "kernel");
}

TEST_F(EngineHeldStream, AHoldThatEndsByItselfRefusesTheResultInWords) {
    device.late = 1;
    HeldStreamOptions atOnce;
    atOnce.warmup = 0;
    const Result<GraphProfile> refused = measured(atOnce);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("waits for the device"), std::string::npos);
    device.late = 1;  // in a pass that warms up: allocations wait for the device
    EXPECT_TRUE(measured());
}

TEST_F(EngineHeldStream, APassThatThrowsLetsTheQueueGoAndTakesItsHooksAway) {
    SpanRecorder recorder(tree, ProfileLevel::leaf, device, false);
    const Pass broken = [&] { hooks.call(tree[1], [] { throw std::runtime_error("kernel failed"); }); };
    EXPECT_THROW((void)runHeld(broken, hooks, recorder, device, device), std::runtime_error);
    EXPECT_EQ(device.letGo, device.holds);
    const int before = device.holds;
    pass()();
    EXPECT_EQ(device.holds, before) << "no hook is left";
}

}  // namespace
}  // namespace kernelscope
