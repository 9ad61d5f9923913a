// The profiler on a GPU: spans, the captured pass, and what ties them together.

#include <cmath>
#include <map>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include "core/device/cupti.h"
#include "core/device/cuda_marks.h"
#include "core/device/cuda_support.h"
#include "core/measure/device_trace.h"
#include "core/measure/gpu_columns.h"
#include "core/measure/graph_profile.h"
#include "core/measure/span_profile.h"
#include "core/model/qwen2.h"

namespace kernelscope {
namespace {

class CudaProfile : public testing::Test {
protected:
    void SetUp() override {
        Result<Device> opened = openDevice("cuda");
        if (!opened) GTEST_SKIP() << "no CUDA device here: " << opened.error().message;
        device = *opened;
        ASSERT_TRUE(activate(device));
        LoadOptions options;
        options.device = device.torch;
        options.dtype = at::kHalf;
        model = std::move(Qwen2Model::random(findPreset("qwen2.5-0.5b")->config, options).value());
        cache.emplace(model->makeCache(1, 33));
        const c10::InferenceMode inference;
        const at::Tensor prompt = at::arange(100, 132, at::kLong).unsqueeze(0).to(device.torch);
        token = model->forward(prompt, *cache).argmax(-1);
    }

    Pass decode() {
        return [this] {
            cache->setLength(32);
            (void)model->forward(token, *cache).argmax(-1);
        };
    }
    Result<SpanProfile> spans(std::int64_t iterations = 20, ProfileLevel level = ProfileLevel::type) {
        const c10::InferenceMode inference;
        return measureSpans("decode", decode(), model->modules(), model->hooks(), device, {level, iterations, 10}, {}, {});
    }
    Result<GraphProfile> graph(MarkKind marks = MarkKind::automatic) {
        const c10::InferenceMode inference;
        GraphProfileOptions options;
        options.marks = marks;
        return measureGraph(decode(), model->modules(), model->hooks(), device, options, {}, {});
    }
    static std::map<std::string, ProfileRow> byName(const std::vector<ProfileRow>& rows) {
        std::map<std::string, ProfileRow> found;
        for (const ProfileRow& row : rows) found[row.name] = row;
        return found;
    }

    Device device;
    std::unique_ptr<Qwen2Model> model;
    std::optional<KvCache> cache;
    at::Tensor token;
};

// CUPTI, once it has been attached to a process, slows every node of every graph: it must be gone when the trace is home.
TEST_F(CudaProfile, ADeviceTraceLeavesAGraphAsQuickAsItWas) {
    const auto before = graph();
    ASSERT_TRUE(before) << before.error().message;
    const auto trace = [&] { const c10::InferenceMode inference; return traceDevice(decode(), 3, device, {}); }();
    if (!trace) GTEST_SKIP() << trace.error().message;
    const auto after = graph();
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_LT(after->markCostUs, 1.1 * before->markCostUs);
    EXPECT_LT(after->plainUs, 1.05 * before->plainUs);
}

TEST_F(CudaProfile, AskingWhetherCuptiWorksLeavesAGraphAsQuickAsItWas) {
    const auto before = graph();
    ASSERT_TRUE(before) << before.error().message;
    (void)cuptiProblem(systemCupti());
    const auto after = graph();
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_LT(after->markCostUs, 1.1 * before->markCostUs);
    EXPECT_LT(after->plainUs, 1.05 * before->plainUs);
}

TEST_F(CudaProfile, APlantedDelayGrowsItsRowByItsAmount) {
    constexpr int kDelayUs = 200;
    const PatchTable native = nativePatchTable();
    const auto rowsWith = [&](PatchTable table) {
        model->setPatchTable(std::move(table));
        return byName(spans()->table.rows(false));
    };
    PatchTable delayed = native;
    delayed.rmsNorm = [&](const at::Tensor& x, const at::Tensor& weight, double eps) {
        EXPECT_EQ(cuda::spin(c10::cuda::getCurrentCUDAStream().stream(), kDelayUs), cudaSuccess);
        return native.rmsNorm(x, weight, eps);
    };
    auto before = rowsWith(native);
    auto after = rowsWith(delayed);
    const double planted = 49.0 * kDelayUs;
    // The spin runs while the host enqueues what follows: of what it adds, the native launches' own gaps are hidden. On the device it is
    // the row's own time all the same, so the row holds at least the planted time.
    EXPECT_GT(after["RMSNorm"].spanUs.value(), 0.95 * planted);
    EXPECT_LT(after["RMSNorm"].spanUs.value(), before["RMSNorm"].spanUs.value() + 1.05 * planted);
    for (const auto& [name, row] : before) {
        if (name == "RMSNorm" || name == "total" || name == "profiler tax") continue;
        EXPECT_LT(after[name].spanUs.value() - row.spanUs.value(), 0.05 * planted) << name;
    }
}

TEST_F(CudaProfile, NodesAddUpToThePlainGraphAndSharesTo100) {
    ASSERT_TRUE(spans(3));
    const Result<GraphProfile> profile = graph();
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_LT(std::abs(profile->conservationPct), 0.5);
    EXPECT_TRUE(profile->warnings.empty());
    double share = 0;
    for (const ProfileRow& row : graphModeRows("decode", *profile, model->modules(), ProfileLevel::type)) {
        if (row.name != "total") share += row.gpuSharePct.value_or(0);
    }
    EXPECT_NEAR(share, 100.0, 0.1);
    std::printf("captured pass: %zu nodes, plain %.1f us, mark %.3f us, conservation %+.3f %%\n", profile->nodes.size(), profile->plainUs,
                profile->markCostUs, profile->conservationPct);
}

TEST_F(CudaProfile, EveryKernelHasANameAndNormsHaveEightEach) {
    ASSERT_TRUE(spans(3));
    const Result<GraphProfile> profile = graph();
    ASSERT_TRUE(profile) << profile.error().message;
    std::int64_t normKernels = 0;
    for (const GraphNode& node : profile->nodes) {
        EXPECT_EQ(node.name.find("unknown"), std::string::npos);
        if (node.module >= 0 && model->modules()[static_cast<std::size_t>(node.module)].type == ModuleType::rmsNorm && node.kind == NodeKind::kernel) ++normKernels;
    }
    EXPECT_EQ(normKernels, 49 * 8);
}

TEST_F(CudaProfile, GpuSharesOfTwoRunsAgreeWithinAPoint) {
    ASSERT_TRUE(spans(3));
    const auto one = byName(graphModeRows("decode", graph().value(), model->modules(), ProfileLevel::type));
    const auto two = byName(graphModeRows("decode", graph().value(), model->modules(), ProfileLevel::type));
    for (const auto& [name, row] : one) {
        if (row.gpuSharePct) { EXPECT_NEAR(*row.gpuSharePct, *two.at(name).gpuSharePct, 1.0) << name; }
    }
}

TEST_F(CudaProfile, EventsAsMarksAgreeWithTimestamps) {
    ASSERT_TRUE(spans(3));
    const Result<GraphProfile> byEvents = graph(MarkKind::events);
    ASSERT_TRUE(byEvents) << byEvents.error().message;
    EXPECT_EQ(byEvents->method, "marked graph, by events");
    const auto events = byName(graphModeRows("decode", *byEvents, model->modules(), ProfileLevel::type));
    const auto timestamps = byName(graphModeRows("decode", graph(MarkKind::timestamps).value(), model->modules(), ProfileLevel::type));
    for (const auto& [name, row] : timestamps) {
        if (!row.gpuSharePct) continue;
        std::printf("%-14s timestamps %8.1f us %5.2f %%, events %8.1f us %5.2f %%\n", name.c_str(), row.gpuUs.value_or(0), *row.gpuSharePct,
                    events.at(name).gpuUs.value_or(0), *events.at(name).gpuSharePct);
        EXPECT_NEAR(*row.gpuSharePct, *events.at(name).gpuSharePct, 2.0) << name;
    }
}

TEST_F(CudaProfile, APassThatSynchronisesIsRefusedInWordsAndTheDeviceStaysUsable) {
    const c10::InferenceMode inference;
    const Result<GraphProfile> profile = measureGraph([&] { (void)token.item<std::int64_t>(); }, model->modules(), model->hooks(), device, {}, {}, {});
    ASSERT_FALSE(profile);
    EXPECT_NE(profile.error().message.find("cannot be captured"), std::string::npos) << profile.error().message;
    EXPECT_TRUE(synchronize(device));
    EXPECT_TRUE(spans(3));
}

TEST_F(CudaProfile, BordersThatTheDeviceHasNotReachedAreWaitedForAndNeverAnError) {
    const c10::InferenceMode inference;
    const Pass slow = [&] {
        decode()();
        EXPECT_EQ(cuda::spin(c10::cuda::getCurrentCUDAStream().stream(), 2'000), cudaSuccess);
    };
    const Result<SpanProfile> profile = measureSpans("decode", slow, model->modules(), model->hooks(), device, {ProfileLevel::leaf, 3, 1}, {}, {});
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_GT(byName(profile->table.rows(false))["total"].spanUs.value(), 2'000.0);
    EXPECT_TRUE(synchronize(device));
}

// A host that has other work widens the interval; only a tax that is above the bar for certain fails.
TEST_F(CudaProfile, TheTaxIsWithinItsBarAtLevelTypeAndAtLevelLeaf) {
    for (const auto& [level, most] : {std::pair{ProfileLevel::type, 3.0}, {ProfileLevel::leaf, 10.0}}) {
        const Result<SpanProfile> profile = spans(42, level);
        ASSERT_TRUE(profile);
        auto rows = byName(profile->table.rows(true));
        const ProfileRow& tax = rows["profiler tax"];
        std::printf("tax %.2f %% (%.2f to %.2f), at most %.0f\n", *tax.spanSharePct, *tax.spanShareCiLowPct, *tax.spanShareCiHighPct, most);
        EXPECT_LT(*tax.spanShareCiLowPct, most);
        EXPECT_LT(*tax.spanSharePct, 3 * most);
    }
}

}  // namespace
}  // namespace kernelscope
