// What cannot be written: stores are read as they stand, files are refused before any work. As another user where the tests
// run as root, whom permissions do not stop.

#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/client/file.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

/// A folder in which nothing can be changed while this lives.
class Locked {
public:
    explicit Locked(fs::path folder) : m_folder(std::move(folder)) {
        allow(fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec);
        if (::geteuid() == 0) m_dropped = ::seteuid(65534) == 0;
    }
    ~Locked() {
        if (m_dropped) [[maybe_unused]] const int back = ::seteuid(0);
        allow(fs::perms::owner_all, fs::perms::none);
    }

private:
    void allow(fs::perms rights, fs::perms onFolder) const {
        fs::permissions(m_folder, fs::perms::owner_all);
        for (const auto& entry : fs::directory_iterator(m_folder)) fs::permissions(entry, rights);
        fs::permissions(m_folder, rights | onFolder);
    }
    fs::path m_folder;
    bool m_dropped = false;
};

class ReadOnlyStore : public testing::Test {
protected:
    void SetUp() override {
        fs::create_directories(file.parent_path());
        const auto store = Store::open(file);
        ASSERT_TRUE(store.ok()) << store.error().message;
        RunHeader header;
        header.id = "abc111";
        header.kind = "profile";
        ASSERT_TRUE((*store)->createRun(header).ok());
        ProfileRow row{"decode", "type", "A", "A"};
        row.spanUs = 1;
        ASSERT_TRUE((*store)->putRow("abc111", {"profile", "A", valuesOf(row)}).ok());
    }
    TemporaryFolder folder;
    fs::path file = folder / "locked/50%#?.sqlite";
};

TEST_F(ReadOnlyStore, IsReadAsItStandsAndRefusesEveryChange) {
    const Locked locked(file.parent_path());
    EXPECT_FALSE(Store::open(file).ok());
    const auto store = Store::openToRead(file);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_TRUE((*store)->isReadOnly());
    EXPECT_EQ((*store)->runs()->size(), 1u);
    EXPECT_EQ((*store)->rows("abc111", "profile")->size(), 1u);
    const auto changed = (*store)->setNote("abc111", "x");
    ASSERT_FALSE(changed.ok());
    EXPECT_NE(changed.error().message.find("is not writable"), std::string::npos) << changed.error().message;
    EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1) << "nothing was left beside it";
}

TEST_F(ReadOnlyStore, ShowsARunWhoseProgramHasDiedAsInterruptedWithoutNotingIt) {
    // The run of SetUp is this process's own, which lives.
    SQLite::Database raw(file.string(), SQLite::OPEN_READWRITE);
    raw.exec("INSERT INTO runs (id, made, kind, command, environment, model, weights, device, dtype, settings, seed, status, reason, headline, result, owner) "
             "SELECT 'dead22', made, kind, command, environment, model, weights, device, dtype, settings, seed, status, reason, headline, result, '1 0 ' || substr(owner, instr(owner, ' ') + 1 + "
             "instr(substr(owner, instr(owner, ' ') + 1), ' ')) FROM runs");
    const Locked locked(file.parent_path());
    const auto store = Store::openToRead(file);
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_TRUE((*store)->isReadOnly());
    const auto dead = (*store)->run("dead22");
    ASSERT_TRUE(dead.ok());
    EXPECT_EQ(dead->header.status, RunStatus::interrupted);
    EXPECT_EQ(dead->header.reason, "the program that ran it ended before it did");
    EXPECT_EQ((*store)->runs()->front().header.status, RunStatus::interrupted) << "in the list too";
    EXPECT_EQ((*store)->run("abc111")->header.status, RunStatus::running);
    EXPECT_EQ(raw.execAndGet("SELECT status FROM runs WHERE id = 'dead22'").getString(), "running") << "shown so, not written";
}

TEST_F(ReadOnlyStore, OfAnOlderVersionIsBroughtUpToDateInMemory) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("ALTER TABLE rows_profile DROP COLUMN note");
    const Locked locked(file.parent_path());
    const auto store = Store::openToRead(file);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_EQ(rowFrom<ProfileRow>((*store)->rows("abc111", "profile")->at(0).values)->spanUs, 1);
    EXPECT_FALSE((*store)->setNote("abc111", "x").ok()) << "a change to the copy would be lost";
}

TEST_F(ReadOnlyStore, ThatCanBeWrittenIsOpenedAsUsual) {
    const auto store = Store::openToRead(file);
    ASSERT_TRUE(store.ok());
    EXPECT_FALSE((*store)->isReadOnly());
    EXPECT_TRUE((*store)->setNote("abc111", "x").ok());
}

TEST_F(ReadOnlyStore, AFileBelowItIsRefusedBeforeTheWorkNamingTheFolder) {
    const Locked locked(file.parent_path());
    const auto below = prepareToWrite(file.parent_path() / "new/out.csv");
    ASSERT_FALSE(below.ok());
    EXPECT_NE(below.error().message.find("the folder " + (file.parent_path() / "new").string() + " cannot be made"), std::string::npos) << below.error().message;
    const auto beside = prepareToWrite(file.parent_path() / "out.csv");
    ASSERT_FALSE(beside.ok());
    EXPECT_NE(beside.error().message.find("in the folder " + file.parent_path().string()), std::string::npos) << beside.error().message;
    EXPECT_FALSE(prepareToWrite(file).ok()) << "a file that may be read alone";
}

TEST(PrepareToWrite, SeesWhatPermissionsDoNotTell) {
    const auto proc = prepareToWrite("/proc/kernelscope/out.csv");
    ASSERT_FALSE(proc.ok());
    EXPECT_NE(proc.error().message.find("/proc/kernelscope cannot be made"), std::string::npos) << proc.error().message;
    EXPECT_FALSE(prepareToWrite("/proc/out.csv").ok());
    EXPECT_TRUE(prepareToWrite("/dev/null").ok());
    const TemporaryFolder folder;
    ASSERT_TRUE(prepareToWrite(folder / "out.csv").ok());
    EXPECT_TRUE(fs::is_empty(folder.path())) << "the trial leaves nothing";
}

}  // namespace
}  // namespace kernelscope
