#include "core/model/hooks.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

class Recorder final : public ModuleHook {
public:
    Recorder(std::string name, std::vector<std::string>& log) : m_name(std::move(name)), m_log(log) {}
    void enter(const ModuleInfo& module) override { m_log.push_back(m_name + " enters " + module.path); }
    void leave(const ModuleInfo& module) override { m_log.push_back(m_name + " leaves " + module.path); }

private:
    std::string m_name;
    std::vector<std::string>& m_log;
};

ModuleInfo norm() {
    ModuleInfo module;
    module.path = "model.norm";
    return module;
}

TEST(Hooks, WrapTheBodyInOrderAndLeaveInReverse) {
    std::vector<std::string> log;
    Recorder a("a", log), b("b", log);
    Hooks hooks;
    hooks.add(&a);
    hooks.add(&b);
    EXPECT_EQ(hooks.call(norm(), [&] { log.push_back("body"); return 7; }), 7);
    EXPECT_EQ(log, (std::vector<std::string>{"a enters model.norm", "b enters model.norm", "body", "b leaves model.norm", "a leaves model.norm"}));
}

TEST(Hooks, LeaveAlsoWhenTheBodyThrows) {
    std::vector<std::string> log;
    Recorder a("a", log);
    Hooks hooks;
    hooks.add(&a);
    EXPECT_THROW(hooks.call(norm(), []() -> int { throw std::runtime_error("x"); }), std::runtime_error);
    EXPECT_EQ(log.back(), "a leaves model.norm");
}

TEST(Hooks, ARemovedHookHearsNothing) {
    std::vector<std::string> log;
    Recorder a("a", log);
    Hooks hooks;
    hooks.add(&a);
    hooks.remove(&a);
    hooks.call(norm(), [] {});
    EXPECT_TRUE(log.empty());
}

TEST(ModuleType, HasTheNamesOfTheProfile) {
    EXPECT_EQ(toString(ModuleType::rmsNorm), "RMSNorm");
    EXPECT_EQ(toString(ModuleType::lmHead), "LM head");
    EXPECT_EQ(toString(ModuleType::none), "");
}

}  // namespace
}  // namespace kernelscope
