// What looking costs: borders of an eager decode step on a GPU, in ways to record them that stand in for each other, interleaved with plain passes.

#include <chrono>
#include <memory>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/device/cuda_support.h"
#include "core/device/device.h"
#include "core/measure/span_recorder.h"
#include "core/model/qwen2.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

using cuda::EventCall;

/// Counts instants and records none: what is left is the hook's own work.
class NoClock final : public BorderClock {
public:
    void reset() override { m_marks = 0; }
    int mark() override { return m_marks++; }
    void wait() override {}
    double betweenUs(int, int) const override { return 0; }

private:
    int m_marks = 0;
};

class CountingClock final : public BorderClock {
public:
    explicit CountingClock(std::unique_ptr<BorderClock> clock) : m_clock(std::move(clock)) {}
    void reset() override { m_clock->reset(); marks = 0; }
    int mark() override { ++marks; return m_clock->mark(); }
    void wait() override { m_clock->wait(); }
    double betweenUs(int a, int b) const override { return m_clock->betweenUs(a, b); }
    int marks = 0;

private:
    std::unique_ptr<BorderClock> m_clock;
};

class CudaBorders : public testing::Test {
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
    void pass() {
        cache->setLength(32);
        (void)model->forward(token, *cache).argmax(-1);
    }

    Device device;
    std::unique_ptr<Qwen2Model> model;
    std::optional<KvCache> cache;
    at::Tensor token;
};

TEST_F(CudaBorders, AnEventInABareLoopTakesAboutAMicrosecondOfTheHost) {
    for (const auto& [name, how] : {std::pair("runtime", EventCall::runtime), std::pair("driver", EventCall::driver), std::pair("driver, prefetched", EventCall::driverPrefetched)}) {
        const std::unique_ptr<BorderClock> clock = cuda::makeBorderClock(how);
        double best = 1e9;
        for (int round = 0; round < 20; ++round) {
            constexpr int kMarks = 300;
            clock->reset();
            const auto began = std::chrono::steady_clock::now();
            for (int mark = 0; mark < kMarks; ++mark) (void)clock->mark();
            best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() / kMarks);
            clock->wait();
        }
        std::printf("bare loop, %-20s %.3f us a border\n", name, best);
        EXPECT_LT(best, 10.0);
    }
    const auto began = std::chrono::steady_clock::now();
    for (int read = 0; read < 1000; ++read) (void)std::chrono::steady_clock::now();
    std::printf("a look at the host's clock %.3f us\n", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() / 1000);
}

/// Way by way, each in turn with the others in every round: median, paired interval, marks a pass.
TEST_F(CudaBorders, InAnEagerPassTheyCostWhatTheTableSays) {
    const c10::InferenceMode inference;
    struct Way {
        const char* name;
        ProfileLevel level;
        std::unique_ptr<CountingClock> clock;
        std::unique_ptr<SpanRecorder> recorder;
        std::vector<double> us;
        int turns = 1;
    };
    std::vector<Way> ways;
    const auto add = [&](const char* name, ProfileLevel level, std::unique_ptr<BorderClock> clock, bool share) {
        Way way{name, level, std::make_unique<CountingClock>(std::move(clock)), nullptr, {}, 1};
        way.recorder = std::make_unique<SpanRecorder>(model->modules(), level, *way.clock, share, SpanRecorder::HostClock::now, 3);
        ways.push_back(std::move(way));
    };
    for (const ProfileLevel level : {ProfileLevel::type, ProfileLevel::leaf}) {
        add("hooks alone", level, std::make_unique<NoClock>(), true);
        add("runtime", level, cuda::makeBorderClock(EventCall::runtime), true);
        add("driver", level, cuda::makeBorderClock(EventCall::driver), true);
        add("driver, prefetched", level, cuda::makeBorderClock(EventCall::driverPrefetched), true);
        add("driver, a third of the layers", level, cuda::makeBorderClock(EventCall::driver), true);
        ways.back().turns = 3;
        add("driver, every border its own", level, cuda::makeBorderClock(EventCall::driver), false);
    }
    const std::unique_ptr<BorderClock> ends = cuda::makeBorderClock();
    const auto timed = [&](SpanRecorder* recorder) {
        ends->reset();
        const int begin = ends->mark();
        if (recorder) {
            model->hooks().add(recorder);
            recorder->beginPass(/*hostTimes=*/false);
        }
        pass();
        if (recorder) {
            recorder->endPass();
            model->hooks().remove(recorder);
        }
        const int end = ends->mark();
        ends->wait();
        return ends->betweenUs(begin, end);
    };
    constexpr int kWarmUp = 15, kRounds = 60;
    std::vector<double> plain;
    for (int round = 0; round < kWarmUp + kRounds; ++round) {
        const bool counts = round >= kWarmUp;
        const double before = timed(nullptr);
        if (counts) plain.push_back(before);
        for (std::size_t index = 0; index < ways.size(); ++index) {
            Way& way = ways[(index + static_cast<std::size_t>(round)) % ways.size()];  // nobody always follows the same neighbour
            way.recorder->setTurn(way.turns > 1 ? std::optional(round % way.turns) : std::nullopt);
            const double us = timed(way.recorder.get());
            if (counts) way.us.push_back(us);
        }
    }
    const double plainUs = median(plain);
    std::printf("plain pass %.1f us\n", plainUs);
    for (const Way& way : ways) {
        const Interval ratio = bootstrapPairedRatioOfMedians(way.us, plain);
        std::printf("%-5s %-30s %4d borders, tax %+6.2f %% (%+.2f to %+.2f), %6.3f us a border\n", std::string(toString(way.level)).c_str(), way.name, way.clock->marks,
                    100 * (median(way.us) / plainUs - 1), 100 * (ratio.low - 1), 100 * (ratio.high - 1),
                    (median(way.us) - plainUs) / std::max(1, way.clock->marks));
    }
    // 6 borders a layer at level type where neighbours share, and a few around.
    EXPECT_LE(ways[2].clock->marks, 24 * 6 + 12);
}

}  // namespace
}  // namespace kernelscope
