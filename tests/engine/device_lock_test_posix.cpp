// One job a GPU: who comes second waits, and gets its turn when the first ends, however that ends.

#include "core/device/device_lock.h"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include <unistd.h>

namespace kernelscope {
namespace {

std::string uniqueName(const char* test) { return std::string("test-") + test + "-" + std::to_string(::getpid()); }

TEST(DeviceLock, IsHeldByOneAtATimeAndNamesItsHolder) {
    const std::string name = uniqueName("one");
    std::string holder;
    auto first = DeviceLock::tryTake(name, holder);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(DeviceLock::tryTake(name, holder), nullptr);
    EXPECT_EQ(holder, std::to_string(::getpid()));
    EXPECT_NE(DeviceLock::tryTake(uniqueName("another GPU"), holder), nullptr) << "each GPU has its own";
    first.reset();
    EXPECT_NE(DeviceLock::tryTake(name, holder), nullptr);
}

TEST(DeviceLock, WhoWaitsIsToldAndGetsItsTurn) {
    const std::string name = uniqueName("turn");
    std::string holder;
    auto first = DeviceLock::tryTake(name, holder);
    ASSERT_NE(first, nullptr);
    std::stop_source stop;
    int told = 0;
    const auto second = DeviceLock::take(name, stop.get_token(), [&](const std::string&) {
        ++told;
        first.reset();
    });
    EXPECT_NE(second, nullptr);
    EXPECT_EQ(told, 1);
}

TEST(DeviceLock, WaitingEndsWhenStopped) {
    const std::string name = uniqueName("stop");
    std::string holder;
    const auto first = DeviceLock::tryTake(name, holder);
    std::stop_source stop;
    EXPECT_EQ(DeviceLock::take(name, stop.get_token(), [&](const std::string&) { stop.request_stop(); }), nullptr);
}

TEST(DeviceLock, ItsFilesAreTheUsersAlone) {
    std::string holder;
    const auto lock = DeviceLock::tryTake(uniqueName("file"), holder);
    using std::filesystem::perms;
    const std::filesystem::path folder = "/tmp/kernelscope-" + std::to_string(::getuid());
    EXPECT_EQ(std::filesystem::status(folder).permissions() & (perms::group_all | perms::others_all), perms::none);
}

}  // namespace
}  // namespace kernelscope
