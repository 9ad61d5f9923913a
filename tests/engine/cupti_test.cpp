#include "core/device/cupti.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

int answer = 0, switchedOff = 0, detached = 0;

/// A loader whose library answers with what the test says.
CuptiLoader answering(int result) {
    answer = result;
    switchedOff = detached = 0;
    return [](const char* name) -> void* {
        const std::string_view wanted = name;
        if (wanted == "cuptiActivityEnable") return reinterpret_cast<void*>(+[](int) { return answer; });
        if (wanted == "cuptiActivityDisable") return reinterpret_cast<void*>(+[](int) { return ++switchedOff, 0; });
        if (wanted == "cuptiFinalize") return reinterpret_cast<void*>(+[] { return ++detached, 0; });
        return nullptr;
    };
}

TEST(EngineCupti, ALoaderThatFailsIsAReasonNotAnError) {
    const auto problem = cuptiProblem([](const char*) -> void* { return nullptr; });
    ASSERT_TRUE(problem);
    EXPECT_NE(problem->cause.find("not there"), std::string::npos);
    EXPECT_FALSE(problem->fix.empty());
}

TEST(EngineCupti, WhereItWorksNothingIsLeftSwitchedOn) {
    EXPECT_FALSE(cuptiProblem(answering(0)));
    EXPECT_EQ(switchedOff, 1);
    EXPECT_EQ(detached, 1);
}

TEST(EngineCupti, ItIsDetachedWhereItRefusedToo) {
    EXPECT_TRUE(cuptiProblem(answering(35)));
    EXPECT_EQ(switchedOff, 0);
    EXPECT_EQ(detached, 1);
}

TEST(EngineCupti, EachRefusalHasItsCauseAndItsFix) {
    const auto device = cuptiProblem(answering(2)), privileges = cuptiProblem(answering(35)), subscribers = cuptiProblem(answering(39));
    ASSERT_TRUE(device && privileges && subscribers);
    EXPECT_NE(device->cause.find("not supported"), std::string::npos);
    EXPECT_NE(privileges->cause.find("administrators"), std::string::npos);
    EXPECT_NE(privileges->fix.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
    EXPECT_NE(subscribers->cause.find("another profiler"), std::string::npos);
    EXPECT_NE(subscribers->fix.find("Close it"), std::string::npos);
    EXPECT_NE(cuptiProblem(answering(999))->cause.find("999"), std::string::npos) << "an answer nobody knows is told as it is";
}

}  // namespace
}  // namespace kernelscope
