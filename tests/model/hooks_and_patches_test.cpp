// The module tree as hooks see it, and the operators as the patch table replaces them.

#include <gtest/gtest.h>

#include <map>

#include "tests/model/model_fixtures.h"

namespace kernelscope::test {
namespace {

// Writes down every module that ran, and checks that enter and leave nest as the tree says.
class Recorder final : public ModuleHook {
public:
    void enter(const ModuleInfo& module) override {
        EXPECT_EQ(module.parent, m_open.empty() ? -1 : m_open.back()->index) << module.path;
        m_open.push_back(&module);
        ++calls[module.path];
        ++callsOfType[module.type];
    }
    void leave(const ModuleInfo& module) override {
        ASSERT_FALSE(m_open.empty()) << module.path;
        EXPECT_EQ(m_open.back(), &module);
        m_open.pop_back();
    }
    [[nodiscard]] bool balanced() const { return m_open.empty(); }

    std::map<std::string, int> calls;
    std::map<ModuleType, int> callsOfType;

private:
    std::vector<const ModuleInfo*> m_open;
};

at::Tensor onePass(Qwen2Model& model, std::int64_t n = 5) {
    KvCache cache = model.makeCache(1, n);
    return model.forward(someTokens(1, n, model.config().vocabSize), cache, /*lastOnly=*/false);
}

PatchTable fusedButTheSame() {
    PatchTable table = nativePatchTable();
    table.addRmsNorm = [norm = table.rmsNorm](const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, double eps) {
        at::Tensor sum = residual + x;
        return std::pair(norm(sum, weight, eps), sum);
    };
    return table;
}

}  // namespace

TEST(ModuleTree, HasEveryModuleOnceParentsFirstAndTypeRootsOutermost) {
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    std::map<std::string, int> seen;
    std::map<ModuleType, int> roots;
    for (std::size_t i = 0; i < model->modules().size(); ++i) {
        const ModuleInfo& module = model->modules()[i];
        EXPECT_EQ(module.index, static_cast<int>(i));
        EXPECT_LT(module.parent, module.index);
        ++seen[module.path];
        if (!module.typeRoot) continue;
        ++roots[module.type];
        for (int above = module.parent; above >= 0; above = model->modules()[static_cast<std::size_t>(above)].parent) {
            EXPECT_NE(model->modules()[static_cast<std::size_t>(above)].type, module.type) << module.path;
        }
    }
    for (const auto& [path, count] : seen) EXPECT_EQ(count, 1) << path;
    EXPECT_EQ(seen.size(), 5U + 3U * 14U);
    EXPECT_EQ(model->modules().front().path, "model_forward");
    EXPECT_EQ(roots[ModuleType::embedding], 1);
    EXPECT_EQ(roots[ModuleType::rotary], 1);
    EXPECT_EQ(roots[ModuleType::rmsNorm], 2 * 3 + 1);
    EXPECT_EQ(roots[ModuleType::attention], 3);
    EXPECT_EQ(roots[ModuleType::mlp], 3);
    EXPECT_EQ(roots[ModuleType::residual], 2 * 3);
    EXPECT_EQ(roots[ModuleType::lmHead], 1);
    EXPECT_EQ(roots[ModuleType::none], 0);
}

TEST(ModuleTree, KnowsDepthLayerAndPathOfAProjection) {
    auto model = randomModel(smallConfig(4, 2));
    for (const ModuleInfo& module : model->modules()) {
        if (module.path != "model.layers.1.self_attn.q_proj") continue;
        EXPECT_EQ(module.depth, 3);
        EXPECT_EQ(module.layer, 1);
        EXPECT_EQ(module.type, ModuleType::attention);
        EXPECT_FALSE(module.typeRoot);
        EXPECT_EQ(model->modules()[static_cast<std::size_t>(module.parent)].path, "model.layers.1.self_attn");
        return;
    }
    FAIL() << "no such module";
}

TEST(Hooks, SeeEveryModuleOnceAPass) {
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    Recorder recorder;
    model->hooks().add(&recorder);
    (void)onePass(*model);
    model->hooks().remove(&recorder);
    EXPECT_TRUE(recorder.balanced());
    EXPECT_EQ(recorder.callsOfType[ModuleType::rmsNorm], 2 * 3 + 1);
    EXPECT_EQ(recorder.calls.size(), model->modules().size());
    for (const auto& [path, count] : recorder.calls) EXPECT_EQ(count, 1) << path;
}

TEST(Hooks, SeeTheSameModulesInADecodeStepAndWithThePositionOnTheDevice) {
    auto model = randomModel(smallConfig(4, 2));
    KvCache cache = model->makeCache(1, 8);
    (void)model->forward(someTokens(1, 4, 97), cache);
    for (const bool onDevice : {false, true}) {
        Recorder recorder;
        model->hooks().add(&recorder);
        if (onDevice) (void)model->forwardAt(someTokens(1, 1, 97), cache, at::full({1}, 5, at::kLong));
        else (void)model->forward(someTokens(1, 1, 97), cache);
        model->hooks().remove(&recorder);
        EXPECT_EQ(recorder.calls.size(), model->modules().size());
        EXPECT_EQ(recorder.callsOfType[ModuleType::rmsNorm], 5);
    }
}

/// Asks for the norms alone.
class NormRecorder final : public ModuleHook {
public:
    explicit NormRecorder(const std::vector<ModuleInfo>& modules) {
        for (const ModuleInfo& module : modules) m_called.push_back(module.type == ModuleType::rmsNorm);
    }
    void enter(const ModuleInfo& module) override { ++entered[module.type]; }
    void leave(const ModuleInfo&) override { ++left; }
    [[nodiscard]] const std::vector<char>* calledFor() const override { return &m_called; }
    std::map<ModuleType, int> entered;
    int left = 0;

private:
    std::vector<char> m_called;
};

TEST(Hooks, OneAloneIsCalledForTheModulesItAsksForAndEveryOneBesideAnother) {
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    NormRecorder norms(model->modules());
    model->hooks().add(&norms);
    (void)onePass(*model);
    EXPECT_EQ(norms.entered, (std::map<ModuleType, int>{{ModuleType::rmsNorm, 7}}));
    EXPECT_EQ(norms.left, 7);
    Recorder all;
    model->hooks().add(&all);
    (void)onePass(*model);
    EXPECT_EQ(all.calls.size(), model->modules().size());
    model->hooks().remove(&norms);
    (void)onePass(*model);
    for (const auto& [path, count] : all.calls) EXPECT_EQ(count, 2) << path;
    model->hooks().remove(&all);
}

TEST(Hooks, LeaveModulesThatThrew) {
    auto model = randomModel(smallConfig(4, 2));
    PatchTable table;
    table.siluMul = [](const at::Tensor&, const at::Tensor&) -> at::Tensor { throw std::runtime_error("planted"); };
    model->setPatchTable(table);
    Recorder recorder;
    model->hooks().add(&recorder);
    KvCache cache = model->makeCache(1, 5);
    EXPECT_THROW((void)model->forward(someTokens(1, 5, 97), cache), std::runtime_error);
    EXPECT_TRUE(recorder.balanced());
    EXPECT_EQ(cache.length(), 0) << "a pass that failed takes no place in the cache";
}

TEST(PatchTable, AFusedNormThatComputesTheSameGivesTheSameLogits) {
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    const at::Tensor native = onePass(*model);
    model->setPatchTable(fusedButTheSame());
    EXPECT_TRUE(at::equal(onePass(*model), native));
    model->setPatchTable(nativePatchTable());
    EXPECT_TRUE(at::equal(onePass(*model), native)) << "patching is undone";
}

TEST(PatchTable, AFusedNormTakesTheResidualAddsIntoTheNorms) {
    auto model = randomModel(smallConfig(4, 2, 16, 3));
    int fused = 0, plain = 0;
    PatchTable table = fusedButTheSame();
    table.addRmsNorm = [&fused, inner = table.addRmsNorm](const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, double eps) {
        ++fused;
        return inner(x, residual, weight, eps);
    };
    table.rmsNorm = [&plain, inner = table.rmsNorm](const at::Tensor& x, const at::Tensor& weight, double eps) {
        ++plain;
        return inner(x, weight, eps);
    };
    model->setPatchTable(table);
    Recorder recorder;
    model->hooks().add(&recorder);
    (void)onePass(*model);
    EXPECT_EQ(recorder.callsOfType[ModuleType::rmsNorm], 2 * 3 + 1);
    EXPECT_EQ(recorder.callsOfType.count(ModuleType::residual), 0U);
    EXPECT_EQ(fused, 2 * 3) << "two adds a layer";
    EXPECT_EQ(plain, 1) << "the first norm has nothing to add";
}

TEST(PatchTable, EachOperatorIsReachedAndAWrongOneShows) {
    auto model = randomModel(smallConfig(4, 2));
    const at::Tensor native = onePass(*model);
    std::map<std::string, int> calls;
    const PatchTable reference = nativePatchTable();

    PatchTable wrongNorm, wrongSilu, wrongRope;
    wrongNorm.rmsNorm = [&](const at::Tensor& x, const at::Tensor& weight, double eps) {
        ++calls["rmsNorm"];
        return reference.rmsNorm(x, weight, eps) * 1.01;
    };
    wrongSilu.siluMul = [&](const at::Tensor& gate, const at::Tensor& up) {
        ++calls["siluMul"];
        return reference.siluMul(up, gate);
    };
    wrongRope.rope = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& cos, const at::Tensor& sin) {
        ++calls["rope"];
        EXPECT_EQ(q.sizes(), (at::IntArrayRef{1, 4, 5, 16}));
        EXPECT_EQ(k.sizes(), (at::IntArrayRef{1, 2, 5, 16}));
        EXPECT_EQ(cos.sizes(), (at::IntArrayRef{5, 16}));
        return reference.rope(q, k, cos, -sin);
    };
    for (const PatchTable& table : {wrongNorm, wrongSilu, wrongRope}) {
        model->setPatchTable(table);
        EXPECT_GT(relativeError(onePass(*model), native), 1e-4);
    }
    EXPECT_EQ(calls["rmsNorm"], 5);
    EXPECT_EQ(calls["siluMul"], 2);
    EXPECT_EQ(calls["rope"], 2);
}

TEST(Native, RmsNormRoundsBeforeTheWeight) {
    const at::Tensor x = (at::arange(64, at::kFloat) * 0.37 - 9).to(at::kBFloat16).view({4, 16});
    const at::Tensor weight = (at::arange(16, at::kFloat) * 0.13 + 0.4).to(at::kBFloat16);
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor normalised = wide * at::rsqrt((wide * wide).mean(-1, true) + 1e-6);
    const at::Tensor out = nativePatchTable().rmsNorm(x, weight, 1e-6);
    EXPECT_TRUE(at::equal(out, normalised.to(at::kBFloat16) * weight));
    EXPECT_FALSE(at::equal(out, (normalised * weight.to(at::kFloat)).to(at::kBFloat16))) << "the two orders differ on these numbers";
}

TEST(Passes, RefuseMoreTokensThanTheCacheHolds) {
    auto model = randomModel(smallConfig(4, 2));
    KvCache cache = model->makeCache(1, 4);
    EXPECT_THROW((void)model->forward(someTokens(1, 5, 97), cache), c10::Error);
    (void)model->forward(someTokens(1, 4, 97), cache);
    EXPECT_THROW((void)model->forward(someTokens(1, 1, 97), cache), c10::Error);
    cache.setLength(3);
    EXPECT_NO_THROW((void)model->forward(someTokens(1, 1, 97), cache)) << "a rewound cache takes the position again";
}

TEST(Passes, AtARewoundPositionGiveTheSameLogits) {
    auto model = randomModel(smallConfig(4, 2));
    KvCache cache = model->makeCache(1, 8);
    (void)model->forward(someTokens(1, 6, 97), cache);
    const at::Tensor first = model->forward(someTokens(1, 1, 97, 3), cache);
    cache.setLength(6);
    (void)model->forward(someTokens(1, 1, 97, 4), cache);
    cache.setLength(6);
    EXPECT_TRUE(at::equal(model->forward(someTokens(1, 1, 97, 3), cache), first));
}

}  // namespace kernelscope::test
