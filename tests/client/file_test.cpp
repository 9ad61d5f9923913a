#include "core/client/file.h"

#include "core/client/process.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

TEST(File, MissingFoldersAreMadeAndNothingElseIsLeftBehind) {
    const TemporaryFolder folder;
    const fs::path file = folder / "a b/ä/out.csv";
    ASSERT_TRUE(writeFileAtomically(file, "one").ok());
    ASSERT_TRUE(writeFileAtomically(file, "two").ok());
    EXPECT_EQ(*readFile(file), "two");
    EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
}

TEST(File, LinksAreFollowedAndPermissionsKept) {
    const TemporaryFolder folder;
    ASSERT_TRUE(writeFileAtomically(folder / "real", "one").ok());
    fs::permissions(folder / "real", fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink(folder / "real", folder / "link");
    ASSERT_TRUE(writeFileAtomically(folder / "link", "two").ok());
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(*readFile(folder / "real"), "two");
    EXPECT_EQ(fs::status(folder / "real").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(File, AFullDiskIsAnErrorInWords) {
    const auto full = writeFileAtomically("/dev/full", "text");
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().code, ErrorCode::environment);
    EXPECT_NE(full.error().message.find("/dev/full: No space left"), std::string::npos) << full.error().message;
}

TEST(File, WhatCannotBeWrittenOrReadIsNamed) {
    const TemporaryFolder folder;
    EXPECT_FALSE(writeFileAtomically(folder.path(), "x").ok()) << "a folder";
    ASSERT_TRUE(writeFileAtomically(folder / "file", "x").ok());
    EXPECT_FALSE(writeFileAtomically(folder / "file/below", "x").ok()) << "a file where a folder should be";
    EXPECT_EQ(readFile(folder / "none").error().code, ErrorCode::badInput);
    EXPECT_NE(readFile(folder.path()).error().message.find("it is a folder"), std::string::npos);
    EXPECT_FALSE(readFile(folder / "file", 0).ok()) << "larger than allowed";
}

TEST(Process, AnIdentityIsAliveForUsAndDeadForOthers) {
    EXPECT_TRUE(mayStillRun(processIdentity()));
    EXPECT_FALSE(mayStillRun(""));
    EXPECT_FALSE(mayStillRun("1 2 3"  ) && mayStillRun("garbage"));
    std::string other = processIdentity();
    other.replace(0, other.find(' '), "999999999");
    EXPECT_FALSE(mayStillRun(other));
}

TEST(Process, AChildOfAProgramWhoseWorkingFolderIsGoneStartsInTheRoot) {
    const TemporaryFolder folder;
    const auto where = [] {
        auto child = ChildProcess::start({"/bin/sh", "-c", "pwd -P"});
        std::string out;
        for (;;) {
            const auto said = (*child)->wait(std::chrono::seconds(10));
            out += said.out;
            if (said.outClosed) return out;
        }
    };
    const auto before = std::filesystem::current_path();
    std::filesystem::create_directory(folder / "gone");
    std::filesystem::current_path(folder / "gone");
    EXPECT_TRUE(where().ends_with("gone\n"));
    std::filesystem::remove(folder / "gone");
    EXPECT_EQ(where(), "/\n");
    std::filesystem::current_path(before);
}

TEST(Process, AnEndIsSaidInWords) {
    EXPECT_EQ((ProcessEnd{3, 0}).words(), "exit code 3");
    EXPECT_EQ((ProcessEnd{0, 11}).words(), "signal 11 (SIGSEGV)");
}

}  // namespace
}  // namespace kernelscope
