// Operators under hooks: nothing else changes, and a share is where the time goes.

#include <chrono>
#include <map>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/measure/operator_shares.h"
#include "core/model/qwen2.h"

namespace kernelscope {
namespace {

class OperatorHooks : public testing::Test {
protected:
    void SetUp() override {
        device = openDevice("cpu").value();
        model = std::move(Qwen2Model::random(findPreset("qwen2.5-tiny")->config, {}).value());
        cache.emplace(model->makeCache(1, 16));
        tokens = at::arange(1, 9, at::kLong).unsqueeze(0);
    }
    at::Tensor logits() {
        cache->setLength(0);
        return model->forward(tokens, *cache);
    }
    std::int64_t layers() const { return model->config().layers; }

    Device device;
    std::unique_ptr<Qwen2Model> model;
    std::optional<KvCache> cache;
    at::Tensor tokens;
};

class Counter final : public ModuleHook {
public:
    void enter(const ModuleInfo& module) override {
        if (module.isOperator) ++calls[module.path];
    }
    void leave(const ModuleInfo&) override {}
    std::map<std::string, std::int64_t> calls;
};

TEST_F(OperatorHooks, EveryCallOfAnOperatorIsSeenAndTheLogitsStay) {
    const at::Tensor before = logits();
    const OperatorModules operators(model->modules());
    model->setPatchTable(operators.instrument(nativePatchTable(), model->hooks()));
    Counter counter;
    model->hooks().add(&counter);
    EXPECT_TRUE(at::equal(before, logits()));
    model->hooks().remove(&counter);
    EXPECT_EQ(counter.calls["op:rms_norm"], 2 * layers() + 1);
    EXPECT_EQ(counter.calls["op:silu_mul"], layers());
    EXPECT_EQ(counter.calls["op:rope"], layers());
    EXPECT_EQ(counter.calls.count("op:add_rms_norm"), 0U);
}

TEST_F(OperatorHooks, AddAndNormAsOneOperatorAreTheSameNumbers) {
    const at::Tensor before = logits();
    const OperatorModules operators(model->modules());
    model->setPatchTable(operators.instrument(withUnfusedAddRmsNorm(nativePatchTable()), model->hooks()));
    Counter counter;
    model->hooks().add(&counter);
    EXPECT_TRUE(at::equal(before, logits()));
    model->hooks().remove(&counter);
    EXPECT_EQ(counter.calls["op:add_rms_norm"], 2 * layers());
    EXPECT_EQ(counter.calls["op:rms_norm"], 1);  // the first one has nothing to add
}

TEST_F(OperatorHooks, OtherLevelsDoNotSeeThem) {
    const OperatorModules operators(model->modules());
    ASSERT_EQ(operators.modules().size(), model->modules().size() + 4);
    for (const ModuleInfo& module : operators.modules()) {
        EXPECT_EQ(isTimedAt(ProfileLevel::op, module), module.isOperator);
        if (!module.isOperator) continue;
        for (const ProfileLevel level : {ProfileLevel::type, ProfileLevel::block, ProfileLevel::leaf, ProfileLevel::kernel}) EXPECT_FALSE(isTimedAt(level, module)) << module.path;
    }
}

TEST_F(OperatorHooks, AShareIsTheTimeOfItsCallsOverTheWholePass) {
    const c10::InferenceMode inference;
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds kDelay{500};
    PatchTable slow = nativePatchTable();
    slow.siluMul = [native = slow.siluMul, kDelay](const at::Tensor& gate, const at::Tensor& up) {
        const auto until = Clock::now() + kDelay;
        while (Clock::now() < until) {}
        return native(gate, up);
    };
    const OperatorModules operators(model->modules());
    model->setPatchTable(operators.instrument(slow, model->hooks()));
    // What is not the delay, by its own clock, says what the share has to be at least.
    std::vector<double> passUs;
    const Pass pass = [&] {
        const auto begin = Clock::now();
        (void)logits();
        passUs.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    };
    const Result<OperatorShares> measured = measureOperatorShares("prefill", pass, {"silu_mul", "rope", "add_rms_norm"}, operators, model->hooks(), device, {10, 2, false}, {});
    ASSERT_TRUE(measured) << measured.error().message;
    const OperatorShare& silu = measured->shares[0];
    EXPECT_EQ(silu.calls, layers());
    const double least = static_cast<double>(layers() * kDelay.count()) / *std::max_element(passUs.begin(), passUs.end());
    EXPECT_GE(*silu.span, least);
    EXPECT_LT(*silu.span, 1.0);
    EXPECT_FALSE(silu.gpu);  // no GPU here
    EXPECT_GT(*silu.span, *measured->shares[1].span);
    EXPECT_EQ(measured->shares[2].calls, 0);
    EXPECT_EQ(measured->shares[2].span, 0.0);
    EXPECT_EQ(measured->shares[2].op, "add_rms_norm");
}

TEST_F(OperatorHooks, AKernelPairIsTimedAsCallsAndOnACpuNotAsDeviceTime) {
    const c10::InferenceMode inference;
    const OperatorTable operators = builtinOperators();
    const Operator* op = operators.find("rms_norm");
    const Variant* fused = op->find("fused");
    ASSERT_NE(fused, nullptr);
    ASSERT_TRUE(fused->supports(at::kCPU));
    const std::unique_ptr<Meter> meter = makeMeter(device);
    const ModelConfig& config = model->config();
    const OperatorShape shape{config.hiddenSize, 8, config.intermediateSize, config.heads, config.kvHeads, config.headDim};
    const Result<KernelPair> pair = measureKernelPair(*meter, *op, *fused, shape, at::kFloat, config.rmsNormEps, device, 0, {});
    ASSERT_TRUE(pair) << pair.error().message;
    EXPECT_GT(pair->nativeCallUs, 0);
    EXPECT_GT(pair->variantCallUs, 0);
    EXPECT_FALSE(pair->nativeDeviceUs || pair->variantDeviceUs);
}

}  // namespace
}  // namespace kernelscope
