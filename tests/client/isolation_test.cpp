// Every way in which an engine can die, hang or lie in the middle of a cell: the cell is marked with the reason, what was
// finished is on disk, and another engine goes on with the next cell.

#include "tests/client/scripted_session.h"

#include <future>

namespace kernelscope {
namespace {

struct Misfortune {
    const char* name;
    const char* script;
    const char* status;
    const char* words;  ///< in the row's reason
};

const Misfortune kMisfortunes[] = {
    {"Sigkill", "die SIGKILL\n", "crashed", "SIGKILL"},
    {"Sigsegv", "say CUDA error: an illegal memory access\ndie SIGSEGV\n", "crashed", "an illegal memory access"},
    {"Sigbus", "die SIGBUS\n", "crashed", "SIGBUS"},
    {"Sigfpe", "die SIGFPE\n", "crashed", "SIGFPE"},
    {"Sigill", "die SIGILL\n", "crashed", "SIGILL"},
    {"Abort", "say terminate called\ndie SIGABRT\n", "crashed", "SIGABRT"},
    {"OutOfMemory", "exhaust\n", "crashed", "bad_alloc"},
    {"ExitWithoutAWord", "exit 3\n", "crashed", "exit code 3"},
    {"EndlessKernel", "stay\n", "hung", "said nothing"},
    {"Deadlock", "deadlock\n", "hung", "said nothing"},
    {"StoppedProcess", "stop\n", "hung", "said nothing"},
    {"FloodOfNonsense", "garbage 200000\nstay\n", "crashed", "lines that are no messages"},
    {"FloodWithoutALine", "endless\n", "crashed", "a line of more than"},
    {"ClosedPipe", "close\nstay\n", "crashed", "closed its output"},
    {"HalfALineAndDeath", "half {\"jsonrpc\":\"2.0\",\"method\":\"job.row\",\"par\ndie SIGKILL\n", "crashed", "SIGKILL"},
    {"HalfALineAndSilence", "half {\"jsonrpc\":\"2.0\",\"method\":\"job.row\",\"par\nstay\n", "hung", "said nothing"},
    {"InvalidUtf8", "raw \\xff\\xfe\\xc3\\x28\nsay bad \\xff words\ndie SIGABRT\n", "crashed", "bad \xEF\xBF\xBD words"},
    {"AFinishWithoutAStatus", "send job.finished {\"status\": \"running\"}\nstay\n", "crashed", "broke the protocol"},
    {"AFailedJob", "send job.finished {\"status\": \"failed\", \"error\": {\"code\": 4, \"message\": \"CUDA error: misaligned address\"}}\nexit 70\n", "crashed", "misaligned address"},
};

class Isolation : public testing::TestWithParam<Misfortune> {};

TEST_P(Isolation, TheCellIsMarkedTheRestIsMeasuredAndNothingFinishedIsLost) {
    const std::string before = "rms_norm|fast|float16|896|1|basic", after = "rms_norm|fast|float16|896|64|basic";
    ScriptedSession play(kHello + kStarted + cellProgress(before) + cellRow(before, "fast", 1) + cellProgress(kCell) + GetParam().script + "restart\n" + kHello + kStarted +
                             cellProgress(after) + cellRow(after, "fast", 64) + kDone,
                         "validate");
    // Only silence is to be cut short: a busy machine may take a while to use up its memory.
    play.request.settings = {{"deadline", std::string_view(GetParam().status) == "hung" ? 0.5 : 20}};
    std::size_t onDiskAtTheLoss = 0;
    play.atRow = [&] {
        if (play.rows.size() == 2) onDiskAtTheLoss = play.store->rows(play.started.back().id, "validate")->size();
    };
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_EQ(play.keysInStore("validate"), (std::vector<std::string>{before, kCell, after}));
    EXPECT_EQ(onDiskAtTheLoss, 2u) << "a row is on disk before anybody hears of it";
    const auto lost = rowFrom<ValidateRow>(play.rowsInStore().at(1).values);
    ASSERT_TRUE(lost.has_value());
    EXPECT_EQ(lost->status, GetParam().status);
    EXPECT_NE(lost->reason.find(GetParam().words), std::string::npos) << lost->reason;
    EXPECT_EQ(play.starts(), 2);
    EXPECT_EQ(play.store->runs()->size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(EveryWay, Isolation, testing::ValuesIn(kMisfortunes), [](const auto& info) { return std::string(info.param.name); });

TEST(Connection, OneThatIsLostIsNotTheCellsFaultAndIsTriedAgain) {
    // 255 is how ssh says that the connection failed or broke.
    ScriptedSession play(kHello + kStarted + cellProgress(kCell) + "say Connection to gpubox closed by remote host.\nexit 255\nrestart\nsay ssh: connect to host gpubox: Connection refused\nexit 255\nrestart\n" +
                             kHello + kStarted + cellProgress(kCell) + cellRow(kCell, "fast", 8) + kDone,
                         "validate");
    play.options.reconnectPause = std::chrono::milliseconds(20);
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    ASSERT_EQ(play.rowsInStore().size(), 1u);
    EXPECT_EQ(rowFrom<ValidateRow>(play.rowsInStore()[0].values)->status, "ok");
    EXPECT_EQ(play.starts(), 3);
    EXPECT_TRUE(play.logged("the connection to the engine was lost"));
    EXPECT_EQ(play.received().find("\"skip\":[\"" + kCell), std::string::npos) << "the cell is asked for again";
}

TEST(Connection, OneThatStaysAwayEndsTheJobWithItsRowsKept) {
    ScriptedSession play(kHello + kStarted + cellRow(kCell, "fast", 8) + "exit 255\nrestart\nsay ssh: connect to host gpubox: No route to host\nexit 255\n", "validate");
    play.options.reconnectPause = std::chrono::milliseconds(2);
    const Finished& end = play.runJob();
    EXPECT_EQ(end.status, RunStatus::failed);
    EXPECT_NE(end.error.message.find("No route to host"), std::string::npos) << end.error.message;
    EXPECT_EQ(play.rowsInStore().size(), 1u);
}

TEST(Connection, CancelWhileItIsAwayEndsTheJobAtOnce) {
    ScriptedSession play(kHello + kStarted + cellProgress(kCell) + "exit 255\n", "validate");
    play.options.reconnectPause = std::chrono::hours(1);
    play.atProgress = [&] {
        if (play.progress.back().phase == "Connecting again") play.session().cancel();
    };
    EXPECT_EQ(play.runJob().status, RunStatus::cancelled);
}

TEST(Isolation, AFloodOfProgressIsCancelledInTime) {
    ScriptedSession play(kHello + kStarted + R"(flood {"phase": "Validating", "done": 7, "total": 3, "cell": "x"})" "\n", "validate");
    play.options.cancelGrace = std::chrono::milliseconds(300);
    std::promise<void> flooded;
    play.atProgress = [&] {
        if (play.progress.size() == 10'000) flooded.set_value();
    };
    ASSERT_TRUE(play.session().start(play.request, "x").ok());
    ASSERT_EQ(flooded.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
    const auto asked = std::chrono::steady_clock::now();
    play.session().cancel();
    play.session().wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - asked;
    EXPECT_LT(took.count(), 5) << "a grace of 0.3 s, and what a busy machine adds";
    ASSERT_EQ(play.finished.size(), 1u);
    EXPECT_EQ(play.finished[0].second.status, RunStatus::cancelled);
    EXPECT_EQ(play.progress.front().done, 3) << "7 of 3 is no count";
}

}  // namespace
}  // namespace kernelscope
