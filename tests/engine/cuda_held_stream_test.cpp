// Where a pass is no chain of a graph: the held stream instead, held against the marked graph where both work. And the driver's trace, where it is not there.

#include <cmath>
#include <map>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>

#include "core/measure/cross_check.h"
#include "core/measure/device_trace.h"
#include "core/measure/gpu_columns.h"
#include "core/measure/held_stream.h"
#include "core/measure/span_profile.h"
#include "core/model/qwen2.h"

namespace kernelscope {
namespace {

class CudaHeldStream : public testing::Test {
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
        token = model->forward(at::arange(100, 132, at::kLong).unsqueeze(0).to(device.torch), *cache).argmax(-1);
    }
    Pass decode() {
        return [this] {
            cache->setLength(32);
            (void)model->forward(token, *cache).argmax(-1);
        };
    }
    /// A decode step that, half way, has something on another stream.
    Pass branched() {
        return [this] {
            decode()();
            const c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool(false, device.torch.index());
            at::cuda::CUDAEvent fork, join;
            fork.record();
            fork.block(side);
            {
                const c10::cuda::CUDAStreamGuard guard(side);
                elsewhere = token.add(1);
                join.record(side);
            }
            (void)token.add(2);
            join.block(c10::cuda::getCurrentCUDAStream());
            (void)token.add(3);
        };
    }
    Result<SpanProfile> spans(const Pass& pass) {
        return measureSpans("decode", pass, model->modules(), model->hooks(), device, {ProfileLevel::type, 3, 4}, {}, {});
    }
    Result<GraphProfile> held(const Pass& pass) { return measureHeldStream(pass, model->modules(), model->hooks(), {}, {}, {}); }
    Result<GraphProfile> graph(const Pass& pass) { return measureGraph(pass, model->modules(), model->hooks(), device, {}, {}, {}); }
    std::map<std::string, double> sharesOf(const GraphProfile& profile) {
        std::map<std::string, double> shares;
        for (const ProfileRow& row : graphModeRows("decode", profile, model->modules(), ProfileLevel::type)) {
            if (row.name != "total" && row.gpuSharePct) shares[row.name] = *row.gpuSharePct;
        }
        return shares;
    }

    Device device;
    std::unique_ptr<Qwen2Model> model;
    std::optional<KvCache> cache;
    at::Tensor token, elsewhere;
};

TEST_F(CudaHeldStream, GivesTheSharesOfTheMarkedGraphWithinAFewPointsAndKeepsTheStreamsGaps) {
    const c10::InferenceMode inference;
    ASSERT_TRUE(spans(decode()));
    const Result<GraphProfile> byHold = held(decode());
    ASSERT_TRUE(byHold) << byHold.error().message;
    const Result<GraphProfile> byGraph = graph(decode());
    ASSERT_TRUE(byGraph) << byGraph.error().message;
    const auto hold = sharesOf(*byHold), marked = sharesOf(*byGraph);
    std::printf("held %.1f us (a border %.2f us, conservation %+.2f %%), graph %.1f us\n", byHold->plainUs, byHold->markCostUs, byHold->conservationPct, byGraph->plainUs);
    for (const auto& [name, share] : marked) std::printf("%-14s held %5.2f %%, graph %5.2f %%\n", name.c_str(), hold.at(name), share);
    EXPECT_GT(byHold->markCostUs, 0.3);
    EXPECT_LT(byHold->markCostUs, 5.0);
    EXPECT_GT(byHold->plainUs, byGraph->plainUs) << "a stream leaves more between two kernels than a graph does";
    EXPECT_LT(byHold->plainUs, 2.5 * byGraph->plainUs) << "the host's own time is not in it";
    EXPECT_FALSE(byHold->kernelsKnown);
    for (const auto& [name, share] : marked) EXPECT_NEAR(hold.at(name), share, 6.0) << name;
}

TEST_F(CudaHeldStream, APassOnBranchesIsNoChainAndHasGpuTimeAllTheSame) {
    const c10::InferenceMode inference;
    ASSERT_TRUE(spans(branched()));
    const Result<GraphProfile> refused = graph(branched());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("branches"), std::string::npos) << refused.error().message;
    ASSERT_TRUE(synchronize(device));
    const Result<GraphProfile> byHold = held(branched());
    ASSERT_TRUE(byHold) << byHold.error().message;
    EXPECT_GT(byHold->plainUs, 500.0);
}

TEST_F(CudaHeldStream, APassThatCannotBeCapturedHasGpuTimeAllTheSame) {
    const c10::InferenceMode inference;
    const Pass pass = [&] {
        decode()();
        (void)c10::cuda::getCurrentCUDAStream().query();  // not allowed in a capture, and waits for nothing
    };
    ASSERT_TRUE(spans(pass));
    ASSERT_FALSE(graph(pass));
    ASSERT_TRUE(synchronize(device));
    EXPECT_TRUE(held(pass));
}

TEST_F(CudaHeldStream, APassThatWaitsForTheDeviceIsRefusedInWordsAndTheDeviceStaysUsable) {
    const c10::InferenceMode inference;
    const Pass pass = [&] {
        decode()();
        (void)token.item<std::int64_t>();
    };
    ASSERT_TRUE(spans(pass));
    HeldStreamOptions few;
    few.warmup = 1;
    const Result<GraphProfile> refused = measureHeldStream(pass, model->modules(), model->hooks(), few, {}, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("waits for the device"), std::string::npos) << refused.error().message;
    EXPECT_TRUE(synchronize(device));
    EXPECT_TRUE(spans(decode()));
}

TEST_F(CudaHeldStream, WithoutCuptiTheProfileIsCompleteAndTheCrossCheckSaysWhy) {
    const c10::InferenceMode inference;
    const Result<SpanProfile> profile = spans(decode());
    ASSERT_TRUE(profile);
    const Result<GraphProfile> marked = graph(decode());
    ASSERT_TRUE(marked) << marked.error().message;
    std::vector<ProfileRow> rows = profile->table.rows(true);
    addGpuColumns(rows, *marked, model->modules(), ProfileLevel::type);
    for (const ProfileRow& row : rows) {
        if (row.name != "profiler tax") { EXPECT_TRUE(row.gpuUs && row.kernels && row.kernelUs) << row.name; }
    }
    const auto trace = traceDevice(decode(), 2, device, {}, [](const char*) -> void* { return nullptr; });
    ASSERT_FALSE(trace);
    EXPECT_NE(trace.error().message.find("libcupti"), std::string::npos) << trace.error().message;
    EXPECT_FALSE(trace.error().advice.empty());
}

TEST_F(CudaHeldStream, APrefillIsHeldAgainstATraceOfTheSameGraph) {
    const c10::InferenceMode inference;
    KvCache room = model->makeCache(1, 513);
    const at::Tensor prompt = at::arange(100, 612, at::kLong).unsqueeze(0).to(device.torch);
    const Pass prefill = [&] {
        room.setLength(0);
        (void)model->forward(prompt, room).argmax(-1);
    };
    ASSERT_TRUE(spans(prefill));
    const Result<GraphProfile> marked = graph(prefill);
    ASSERT_TRUE(marked) << marked.error().message;
    const auto trace = traceDevice(marked->replayGraph, 5, device, {});
    if (!trace) GTEST_SKIP() << trace.error().message;
    const auto check = crossCheck("prefill", *marked, *trace, model->modules());
    ASSERT_TRUE(check) << check.error().message;
    for (const CrossCheckRow& row : check->rows) {
        std::printf("%-14s %4lld kernels, trace %9.1f us, ours %9.1f us, %+6.2f %%, share %+5.2f points, %lld names differ\n", row.name.c_str(),
                    static_cast<long long>(row.kernels), row.traceUs, row.kernelUs, row.errorPct.value_or(0), row.shareErrorPoints, static_cast<long long>(row.namesDiffer));
    }
    EXPECT_EQ(check->rows.back().namesDiffer, 0);
    EXPECT_LT(std::abs(check->rows.back().errorPct.value()), 4.0);
}

}  // namespace
}  // namespace kernelscope
