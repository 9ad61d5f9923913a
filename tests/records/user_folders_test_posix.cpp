// Where a user's files lie: never where others may put theirs.

#include "core/records/user_folders.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

class UserFolders : public testing::Test {
protected:
    void SetUp() override {
        for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}) {
            const char* value = std::getenv(name);
            m_before[name] = value ? std::optional<std::string>(value) : std::nullopt;
            ::unsetenv(name);
        }
    }
    void TearDown() override {
        for (const auto& [name, value] : m_before) value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }

private:
    std::map<std::string, std::optional<std::string>> m_before;
};

TEST_F(UserFolders, FollowTheEnvironmentWhereItNamesAbsolutePaths) {
    ::setenv("HOME", "/home/ä b", 1);
    EXPECT_EQ(userDataFolder(), "/home/ä b/.local/share");
    EXPECT_EQ(userCacheFolder(), "/home/ä b/.cache");
    ::setenv("XDG_DATA_HOME", "/data", 1);
    ::setenv("XDG_CACHE_HOME", "cache", 1);
    EXPECT_EQ(userDataFolder(), "/data");
    EXPECT_EQ(userCacheFolder(), "/home/ä b/.cache") << "what is no absolute path is passed over";
}

TEST_F(UserFolders, WithoutAHomeInTheEnvironmentTheSystemIsAsked) {
    const passwd* entry = ::getpwuid(::geteuid());
    for (const char* home : {"", "somewhere", "."}) {
        ::setenv("HOME", home, 1);
        if (entry && entry->pw_dir && *entry->pw_dir == '/') {
            EXPECT_EQ(homeFolder(), entry->pw_dir) << home;
        } else {
            EXPECT_TRUE(homeFolder().empty()) << home;
        }
    }
    // Without any, a folder that nobody else may enter.
    const fs::path folder = userCacheFolder();
    EXPECT_TRUE(folder.is_absolute());
    if (!folder.string().starts_with(fs::temp_directory_path().string() + "/")) return;
    struct stat state {};
    ASSERT_EQ(::stat(folder.parent_path().c_str(), &state), 0);
    EXPECT_EQ(state.st_mode & 077, 0U);
}

}  // namespace
}  // namespace kernelscope
