// Shows that a profile measures what it says: a known delay planted in one module grows that row, by that amount, and no other.

#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/measure/span_profile.h"
#include "core/model/qwen2.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

/// Spins that long and returns how long it really took: a busy machine holds it up.
double spinFor(std::chrono::microseconds time) {
    const auto began = std::chrono::steady_clock::now();
    auto now = began;
    while (now - began < time) now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::micro>(now - began).count();
}

class EnginePlantedDelay : public testing::Test {
protected:
    void SetUp() override {
        at::set_num_threads(1);  // threads that wait for each other on a busy machine would drown the delay
        LoadOptions options;
        options.seed = 7;
        model = std::move(Qwen2Model::random(findPreset("qwen2.5-tiny")->config, options).value());
        device = openDevice("cpu").value();
    }

    std::map<std::string, double> spansWith(PatchTable table) {
        const c10::InferenceMode inference;
        model->setPatchTable(std::move(table));
        KvCache cache = model->makeCache(1, 9);
        const at::Tensor prompt = at::arange(1, 9, at::kLong).unsqueeze(0);
        (void)model->forward(prompt, cache);
        const at::Tensor token = at::full({1, 1}, 5, at::kLong);
        const Pass pass = [&] {
            cache.setLength(8);
            (void)model->forward(token, cache);
        };
        Result<SpanProfile> profile = measureSpans("decode", pass, model->modules(), model->hooks(), device, {ProfileLevel::type, 15, 3}, {}, {});
        std::map<std::string, double> spans;
        for (const ProfileRow& row : profile->table.rows(false)) spans[row.name] = row.spanUs.value_or(0);
        return spans;
    }

    std::unique_ptr<Qwen2Model> model;
    Device device;
};

TEST_F(EnginePlantedDelay, GrowsTheRowItIsPlantedInByItsAmountAndNoOther) {
    constexpr std::chrono::microseconds kDelay{6'000};
    constexpr std::size_t kNorms = 5;  // two a layer and the last one
    const PatchTable native = nativePatchTable();
    PatchTable delayed = native;
    std::vector<double> spins;
    delayed.rmsNorm = [&](const at::Tensor& x, const at::Tensor& weight, double eps) {
        spins.push_back(spinFor(kDelay));
        return native.rmsNorm(x, weight, eps);
    };
    const auto tryOnce = [&] {
        spins.clear();
        std::map<std::string, double> before = spansWith(native);
        std::map<std::string, double> after = spansWith(delayed);
        std::vector<double> plantedByPass;  // what a pass really got, held-up spins included
        for (std::size_t first = 0; first + kNorms <= spins.size(); first += kNorms) {
            plantedByPass.push_back(std::accumulate(spins.begin() + static_cast<std::ptrdiff_t>(first), spins.begin() + static_cast<std::ptrdiff_t>(first + kNorms), 0.0));
        }
        const double planted = median(plantedByPass);
        std::string wrong;
        const auto expect = [&](bool right, const std::string& what) {
            if (!right) wrong += what + "; ";
        };
        const double norms = after["RMSNorm"] - before["RMSNorm"], totals = after["total"] - before["total"];
        expect(std::abs(norms - planted) < 0.05 * planted, fmt::format("RMSNorm grew by {:.0f} us of {:.0f}", norms, planted));
        expect(std::abs(totals - planted) < 0.1 * planted, fmt::format("the total grew by {:.0f} us of {:.0f}", totals, planted));
        for (const auto& [name, span] : before) {
            if (name == "RMSNorm" || name == "total" || name == "profiler tax") continue;
            expect(after[name] - span < 0.05 * planted, name + " grew though nothing was planted in it");
        }
        return wrong;
    };
    // What others do on the machine meanwhile is in one of the two measurements and not in the other: that passes, a fault would not.
    std::string wrong = tryOnce();
    for (int again = 0; again < 4 && !wrong.empty(); ++again) wrong = tryOnce();
    EXPECT_EQ(wrong, "");
}

TEST_F(EnginePlantedDelay, AFusedAddAndNormMovesTheAddsIntoTheNormsRow) {
    const PatchTable native = nativePatchTable();
    PatchTable fused = native;
    fused.addRmsNorm = [&](const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, double eps) {
        const at::Tensor sum = x + residual;
        return std::pair(native.rmsNorm(sum, weight, eps), sum);
    };
    EXPECT_TRUE(spansWith(native).contains("Residual"));
    const auto patched = spansWith(fused);
    EXPECT_FALSE(patched.contains("Residual"));
    EXPECT_TRUE(patched.contains("RMSNorm"));
}

}  // namespace
}  // namespace kernelscope
