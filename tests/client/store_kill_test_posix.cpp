// A writer is killed at random moments: what it said was written is there, and the store opens.

#include <csignal>

#include "core/client/process.h"
#include "core/records/statistics.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

TEST(StoreKill, NoRowThatWasSaidToBeWrittenIsEverLost) {
    const TemporaryFolder folder;
    const std::string file = (folder / "runs.sqlite").string();
    constexpr int kKills = 40;
    SeededGenerator random(11);
    std::int64_t written = 0, lost = 0;
    for (int round = 0; round < kKills; ++round) {
        const std::string run = "run" + std::to_string(round);
        auto child = ChildProcess::start({KERNELSCOPE_STORE_WRITER, file, run});
        ASSERT_TRUE(child.ok()) << child.error().message;
        WakeUp quiet;
        std::string said, errors;
        const std::size_t enough = 1 + random.below(60);  // lines, and then some in the pipe
        while (static_cast<std::size_t>(std::count(said.begin(), said.end(), '\n')) < enough) {
            const auto more = (*child)->wait(quiet, std::chrono::seconds(30));
            said += more.out;
            errors += more.err;
            ASSERT_FALSE(more.outClosed) << errors;
        }
        ::kill(static_cast<pid_t>((*child)->pid()), SIGKILL);
        for (bool open = true; open;) {
            const auto more = (*child)->wait(quiet, std::chrono::seconds(30));
            said += more.out;
            open = !more.outClosed;
        }
        (*child)->kill();
        const auto claimed = static_cast<std::int64_t>(std::count(said.begin(), said.end(), '\n'));

        auto store = Store::open(file);
        ASSERT_TRUE(store.ok()) << store.error().message;
        const auto summary = (*store)->run(run);
        ASSERT_TRUE(summary.ok());
        EXPECT_EQ(summary->header.status, RunStatus::interrupted);
        const auto rows = (*store)->rows(run, "profile");
        ASSERT_TRUE(rows.ok());
        EXPECT_EQ(summary->rows, static_cast<std::int64_t>(rows->size())) << "the count agrees with the rows";
        written += claimed;
        lost += std::max<std::int64_t>(0, claimed - static_cast<std::int64_t>(rows->size()));
        for (std::size_t i = 0; i < rows->size(); ++i) ASSERT_EQ((*rows)[i].key, "row " + std::to_string(i));
    }
    std::printf("%d kills, %lld rows said to be written, %lld lost\n", kKills, static_cast<long long>(written), static_cast<long long>(lost));
    EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace kernelscope
