#include "core/model/mapped_file.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

std::string text(const MappedFile& file) { return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}; }

TEST(MappedFile, ShowsTheWholeFileAndKeepsItsPlaceWhenMoved) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(test::writeFile(folder.path() / "a", "hello"));
    Result<MappedFile> file = MappedFile::open(folder.path() / "a");
    ASSERT_TRUE(file.ok()) << file.error().message;
    const std::byte* place = file->bytes().data();
    MappedFile moved = std::move(*file);
    EXPECT_EQ(moved.bytes().data(), place);
    EXPECT_EQ(text(moved), "hello");
    EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(test::writeFile(folder.path() / "a", ""));
    Result<MappedFile> file = MappedFile::open(folder.path() / "a");
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, FollowsALink) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(test::writeFile(folder.path() / "blob", "hello"));
    fs::create_symlink("blob", folder.path() / "link");
    Result<MappedFile> file = MappedFile::open(folder.path() / "link");
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(text(*file), "hello");
}

void expectRefused(const fs::path& path, const char* says) {
    const Result<MappedFile> file = MappedFile::open(path);
    ASSERT_FALSE(file.ok()) << path;
    EXPECT_EQ(file.error().code, ErrorCode::badInput);
    EXPECT_NE(file.error().message.find(says), std::string::npos) << file.error().message;
    EXPECT_FALSE(file.error().advice.empty());
}

TEST(MappedFile, RefusesWhatIsNotThere) {
    const test::TemporaryFolder folder;
    expectRefused(folder.path() / "nothing", "does not exist");
}

TEST(MappedFile, RefusesALinkIntoNowhereAndSaysWhere) {
    const test::TemporaryFolder folder;
    fs::create_symlink("../blobs/0123", folder.path() / "link");
    expectRefused(folder.path() / "link", "../blobs/0123");
}

TEST(MappedFile, RefusesFoldersAndPipesWithoutWaiting) {
    const test::TemporaryFolder folder;
    expectRefused(folder.path(), "not a regular file");
    ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    expectRefused(folder.path() / "pipe", "not a regular file");
}

TEST(MappedFile, RefusesALinkToItself) {
    const test::TemporaryFolder folder;
    fs::create_symlink("loop", folder.path() / "loop");
    expectRefused(folder.path() / "loop", "loop");
}

TEST(MappedFile, SaysThatPermissionIsMissing) {
    const test::TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms::all);
    ASSERT_TRUE(test::writeFile(folder.path() / "a", "hello"));
    fs::permissions(folder.path() / "a", fs::perms::none);
    const uid_t before = ::geteuid();
    constexpr uid_t kNobody = 65534;
    if (before == 0) {
        ASSERT_EQ(::seteuid(kNobody), 0);
    }  // root may read everything
    expectRefused(folder.path() / "a", "Permission denied");
    if (before == 0) {
        ASSERT_EQ(::seteuid(before), 0);
    }
}

}  // namespace
}  // namespace kernelscope
