// What a session does with an engine that dies, hangs, floods or lies: every row that arrived is kept, the job ends
// once, in words, and the next one works.

#include "tests/client/scripted_session.h"

#include <future>

#include "core/records/kernel_fault.h"

namespace kernelscope {
namespace {

/// A profile whose engine fails in the middle, and works when it is started again.
struct BrokenProfile : ScriptedSession {
    explicit BrokenProfile(const std::string& failure)
        : ScriptedSession(kHello + kStarted + profileRow("A", 1) + failure + "restart\n" + kHello + kStarted + profileRow("B", 2) + kDone) {}

    /// The reason of the first, failed job; the second one is checked here.
    std::string whyItFailed() {
        const Finished& end = runJob();
        EXPECT_EQ(end.status, RunStatus::failed);
        EXPECT_EQ(end.error.code, ErrorCode::environment);
        const std::string why = end.error.message;
        EXPECT_EQ(keysInStore("profile"), std::vector<std::string>{"A"}) << "what had arrived is kept";
        EXPECT_EQ(store->run("last")->header.reason, why);
        EXPECT_EQ(states.back(), EngineState::lost);
        EXPECT_EQ(runJob().status, RunStatus::done) << "the next job gets a new engine";
        EXPECT_EQ(keysInStore("profile"), std::vector<std::string>{"B"});
        EXPECT_EQ(starts(), 2);
        return why;
    }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(FailingEngine, KilledBySignalsSaysWhichAndItsLastWords) {
    for (const char* name : {"SIGKILL", "SIGSEGV", "SIGABRT"}) {
        BrokenProfile play("say CUDA error: an illegal memory access\ndie " + std::string(name) + "\n");
        const std::string why = play.whyItFailed();
        EXPECT_TRUE(holds(why, name)) << why;
        EXPECT_TRUE(holds(why, "CUDA error: an illegal memory access")) << why;
    }
}

TEST(FailingEngine, ABusErrorSaysWhatUsuallyLiesBehindIt) {
    const std::string why = BrokenProfile("die SIGBUS\n").whyItFailed();
    EXPECT_TRUE(holds(why, "SIGBUS") && holds(why, "a file that it was reading became shorter")) << why;
}

TEST(FailingEngine, AnExitInTheMiddleSaysItsCode) { EXPECT_TRUE(holds(BrokenProfile("exit 7\n").whyItFailed(), "exit code 7")); }

std::string kernelProgress(const std::string& phase, const std::string& kernel) {
    return "send job.progress " + progressWithKernel(Progress{phase, 0, 4, std::nullopt, {}}, kernel).dump() + "\n";
}

TEST(FailingEngine, AKernelOfAPatchThatTakesItAlongIsNamedAndNotTheEngine) {
    const auto endOf = [](const std::string& failure, std::vector<std::string>* kept = nullptr) {
        ScriptedSession play(kHello + kStarted + profileRow("A", 1) + failure + "restart\n" + kHello + kStarted + kDone);
        play.options.silenceDeadline = std::chrono::milliseconds(300);
        play.request.settings["kernel"] = "/k/mine.cpp";
        const Finished end = play.runJob();
        if (kept) *kept = play.keysInStore("profile");
        EXPECT_EQ(play.runJob().status, RunStatus::done) << "the next job gets a new engine";
        EXPECT_EQ(end.error.code, ErrorCode::cantTell);
        EXPECT_TRUE(holds(end.error.advice, "validate --kernel /k/mine.cpp")) << end.error.advice;
        return end.error.message;
    };
    std::vector<std::string> kept;
    EXPECT_EQ(endOf(kernelProgress(kProvingPatch, "rms_norm=mine") + "die SIGSEGV\n", &kept), "rms_norm=mine crashes at this model's shapes (signal 11, SIGSEGV)");
    EXPECT_EQ(kept, std::vector<std::string>{"A"});
    EXPECT_EQ(endOf(kernelProgress(kProvingPatch, "rms_norm=mine") + "stay\n"), "rms_norm=mine hangs at this model's shapes (no sign of life for 300 ms)");
    EXPECT_EQ(endOf(kernelProgress("Decode passes", "rms_norm=mine") + "exit 7\n"), "rms_norm=mine crashes at this model's shapes (exit code 7)");
    EXPECT_TRUE(holds(endOf(kernelProgress(kProvingPatch, "rms_norm=mine") + kernelProgress("Warming up", "") + "die SIGABRT\n"), "after rms_norm=mine had run in it")) << "memory may be spoilt";
}

TEST(FailingEngine, RowsThatWereBeingMeasuredAreFinishedByTheEnd) {
    EndToEndRow row;
    row.configuration = "patched";
    row.mode = "eager";
    row.status = "running";
    row.totalMs = 12;
    const std::string sent = "send job.row " + toJson(RowRecord{"e2e", "patched|eager", valuesOf(row)}).dump() + "\n";
    for (const bool cancelled : {false, true}) {
        ScriptedSession play(kHello + kStarted + sent + (cancelled ? "stay\n" : "die SIGSEGV\n"), "e2e");
        play.options.cancelGrace = std::chrono::milliseconds(50);
        if (cancelled) play.atRow = [&] { play.session().cancel(); };
        play.runJob();
        const auto kept = rowFrom<EndToEndRow>(play.rowsInStore().front().values);
        ASSERT_TRUE(kept);
        EXPECT_EQ(kept->status, cancelled ? "cancelled" : "failed");
        EXPECT_EQ(kept->totalMs, 12) << "what was measured stays";
    }
}

TEST(FailingEngine, SilenceIsAHangAndEndsAtTheDeadline) {
    BrokenProfile play("stay\n");
    play.options.silenceDeadline = std::chrono::milliseconds(300);
    const std::string why = play.whyItFailed();
    EXPECT_TRUE(holds(why, "said nothing for 300 ms")) << why;
}

TEST(FailingEngine, TelemetryDoesNotCountAsALifeSign) {
    std::string chatter;
    for (int i = 0; i < 50; ++i) chatter += R"(send telemetry {"device": "cpu"})" "\n";
    BrokenProfile play(chatter + "stay\n");
    play.options.silenceDeadline = std::chrono::milliseconds(300);
    EXPECT_TRUE(holds(play.whyItFailed(), "said nothing"));
}

TEST(FailingEngine, AnEndlessLineIsCutOffAndTheEngineStopped) {
    BrokenProfile play("endless\n");
    EXPECT_TRUE(holds(play.whyItFailed(), "a line of more than 64.0 MiB"));
}

TEST(FailingEngine, AFewLinesOfNonsenseAreLoggedAndForgiven) {
    ScriptedSession play(kHello + kStarted + "garbage 30\nraw \\xff\\xfe\nraw {\"half\": \n" + profileRow("A", 1) + kDone);
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_TRUE(play.logged("not understood: garbage line 0"));
    EXPECT_EQ(play.rowsInStore().size(), 1u);
}

TEST(FailingEngine, AFloodOfNonsenseIsStopped) {
    BrokenProfile play("garbage 200000\nstay\n");
    EXPECT_TRUE(holds(play.whyItFailed(), "1000 lines that are no messages"));
    EXPECT_LT(play.linesLogged(), 100u) << "the flood does not reach the log";
}

TEST(FailingEngine, InvalidUtf8BeforeDyingDoesNotSpoilTheReason) {
    BrokenProfile play("say bad \\xff bytes\nraw \\xc3\\x28\ndie SIGABRT\n");
    EXPECT_TRUE(holds(play.whyItFailed(), "bad \xEF\xBF\xBD bytes"));
}

TEST(FailingEngine, HalfALineBeforeDyingIsNoRow) {
    BrokenProfile play("half {\"jsonrpc\":\"2.0\",\"method\":\"job.row\",\"params\":{\"type\":\"profile\",\"key\":\"half\ndie SIGKILL\n");
    EXPECT_TRUE(holds(play.whyItFailed(), "SIGKILL"));
}

TEST(FailingEngine, AClosedPipeIsALoss) { EXPECT_TRUE(holds(BrokenProfile("close\nstay\n").whyItFailed(), "closed its output")); }

TEST(FailingEngine, LiesAboutCountsAndKindsAreCorrectedOrIgnored) {
    ScriptedSession play(kHello + kStarted +
                         R"(send job.progress {"done": 5, "total": 3})" "\n"
                         R"(send job.progress {"done": -5, "total": -1})" "\n"
                         R"(send job.progress {"done": "many"})" "\n"
                         R"(send job.row {"type": "weather", "row": {}})" "\n"
                         R"(send job.row {"type": "profile", "key": "x", "row": {"span_us": "fast"}})" "\n"
                         R"(send job.surprise {})" "\n"
                         R"(raw {"jsonrpc":"2.0","id":999,"result":{}})" "\n" +
                         profileRow("A", 1) + kDone + kDone + profileRow("late", 1) + kStarted + kDone);
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    ASSERT_EQ(play.progress.size(), 2u);
    EXPECT_EQ(play.progress[0].done, 3);
    EXPECT_EQ(play.progress[1].done, 0);
    EXPECT_EQ(play.progress[1].total, 0);
    EXPECT_EQ(play.keysInStore("profile"), std::vector<std::string>{"A"});
    EXPECT_TRUE(play.logged("there is no row type 'weather'"));
    EXPECT_TRUE(play.logged("span_us is not a number"));
    play.runJob();  // the second `finished` and the late row belong to no job
    EXPECT_TRUE(play.logged("without a job"));
    EXPECT_EQ(play.rows.size(), 1u);
}

TEST(FailingEngine, AFinishWithoutAStatusIsALoss) {
    BrokenProfile play(R"(send job.finished {"status": "running"})" "\nstay\n");
    EXPECT_TRUE(holds(play.whyItFailed(), "status is none of done, cancelled, failed"));
}

TEST(FailingEngine, AnotherProtocolIsRefusedInWords) {
    ScriptedSession play("await engine.hello\nhello 2\n");
    const Finished& end = play.runJob();
    EXPECT_EQ(end.status, RunStatus::failed);
    EXPECT_EQ(end.error.code, ErrorCode::environment);
    EXPECT_TRUE(holds(end.error.message, "the engine speaks protocol 2, this program 1 (the engine is version 9.9.9)")) << end.error.message;
    EXPECT_EQ(end.error.advice, "install the same version of Kernelscope on both sides");
}

TEST(FailingEngine, ABannerBeforeHelloIsSkippedAndLogged) {
    ScriptedSession play("raw Welcome to gpubox\nraw {\"motd\": true}\nraw \\xff\\xff\nraw 1\n" + kHello + kStarted + profileRow("A", 1) + kDone);
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_TRUE(play.logged("Welcome to gpubox"));
    EXPECT_TRUE(play.logged("{\"motd\": true}"));
}

TEST(FailingEngine, AGreetingThatDoesNotEndItsLineIsABannerToo) {
    // What sets a terminal's title, or asks without a newline, stands before the answer to hello in its line.
    for (const char* greeting : {"half \\x1b]0;gpubox\\x07\n", "half {\"motd\": \"to {\"\n", "half \\xff\\xfe\\x00{\n"}) {
        ScriptedSession play(greeting + kHello + kStarted + profileRow("A", 1) + kDone);
        EXPECT_EQ(play.runJob().status, RunStatus::done) << greeting << play.runJob().error.message;
        EXPECT_EQ(play.linesLogged(), 1u) << greeting;
    }
}

TEST(FailingEngine, AFloodOfItsLogIsCutAndOurOwnWordsAreNot) {
    const std::string flood = "repeat 5000 log {\"text\": \"again\"}\nrepeat 5000 weather {}\n";
    ScriptedSession play(kHello + kStarted + cellProgress(kCell) + flood + "die SIGSEGV\nrestart\n" + kHello + kStarted + kDone, "validate");
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_LT(play.linesLogged(), 9'000u) << "a thousand a second";
    EXPECT_TRUE(play.logged("starting the engine again"));
}

TEST(FailingEngine, NoHelloInTimeIsSaid) {
    ScriptedSession play("stay\n");
    play.options.helloDeadline = std::chrono::milliseconds(200);
    EXPECT_TRUE(holds(play.runJob().error.message, "did not say hello in time"));
}

TEST(FailingEngine, DyingBeforeHelloIsSaidWithItsWords) {
    ScriptedSession play("say error while loading shared libraries: libtorch_cpu.so\nexit 127\n");
    const std::string why = play.runJob().error.message;
    EXPECT_TRUE(holds(why, "exit code 127") && holds(why, "libtorch_cpu.so")) << why;
}

TEST(FailingEngine, AProgramThatIsNotThereIsNamed) {
    ScriptedSession play("");
    play.options.engine.argv = {"/nowhere/kernelscope-engine"};
    const Finished& end = play.runJob();
    EXPECT_EQ(end.error.code, ErrorCode::environment);
    EXPECT_TRUE(holds(end.error.message, "/nowhere/kernelscope-engine")) << end.error.message;
    EXPECT_FALSE(end.error.advice.empty());
}

TEST(FailingEngine, AStoreThatFailsStopsTheJobAndSaysSo) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n");
    // The store vanishes from under the session, as a disk that fills up would make the next row fail.
    play.atStarted = [&] { ASSERT_TRUE(std::filesystem::remove(play.store->path())); };
    ASSERT_TRUE(play.session().start(play.request, "x").ok());
    play.session().wait();
    ASSERT_EQ(play.finished.size(), 1u);
    EXPECT_EQ(play.finished[0].second.status, RunStatus::failed);
    EXPECT_TRUE(holds(play.finished[0].second.error.message, "was deleted or replaced while it was in use"));
    EXPECT_TRUE(play.rows.empty()) << "a row that was not kept is not reported as kept";
}

TEST(FailingEngine, AFloodOfStderrNeitherBlocksNorFillsTheLog) {
    std::string words;
    for (int i = 0; i < 3000; ++i) words += "say a warning\n";
    ScriptedSession play(kHello + kStarted + words + profileRow("A", 1) + kDone);
    EXPECT_EQ(play.runJob().status, RunStatus::done);
}

TEST(FailingEngine, AHundredThousandRowsArriveInOrder) {
    ScriptedSession play(kHello + kStarted + "rows 100000\n" + kDone);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(play.runJob().status, RunStatus::done);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("100,000 rows through engine, session and store: %.2f s\n", took.count());
    EXPECT_EQ(*play.store->rowCount(play.finished[0].first.id, "sample"), 100'000);
    ASSERT_EQ(play.rows.size(), 100'000u);
    EXPECT_EQ(play.rows.back().key, "s99999");
}

// ---- kinds that go on after a crash

TEST(GoingOn, ACrashedCellIsMarkedAndTheRestIsMeasured) {
    const std::string next = "rms_norm|fast|float16|896|64|basic";
    ScriptedSession play(kHello + kStarted + cellProgress("rms_norm|fast|float16|896|1|basic") + cellRow("rms_norm|fast|float16|896|1|basic", "fast", 1) +
                             cellProgress(kCell) + "say CUDA error: misaligned address\ndie SIGSEGV\nrestart\n" + kHello + kStarted +
                             cellProgress(next) + cellRow(next, "fast", 64) + kDone,
                         "validate");
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_EQ(play.keysInStore("validate"), (std::vector<std::string>{"rms_norm|fast|float16|896|1|basic", kCell, next}));
    const auto crashed = rowFrom<ValidateRow>(play.rowsInStore()[1].values);
    ASSERT_TRUE(crashed.has_value());
    EXPECT_EQ(crashed->status, "crashed");
    EXPECT_EQ(crashed->variant, "fast");
    EXPECT_EQ(crashed->rows, 8);
    EXPECT_TRUE(holds(crashed->reason, "SIGSEGV") && holds(crashed->reason, "misaligned address")) << crashed->reason;
    EXPECT_EQ(play.starts(), 2);
    EXPECT_EQ(play.store->runs()->size(), 1u) << "one command leaves one run";
    const std::string received = play.received();
    const auto lastLine = received.substr(received.rfind('\n', received.size() - 2) + 1);
    const auto restarted = parseLine(lastLine.substr(0, lastLine.size() - 1));
    ASSERT_TRUE(restarted.ok()) << lastLine;
    const auto request = jobRequestFromJson(restarted->params);
    ASSERT_TRUE(request.ok());
    EXPECT_EQ(request->skip, (std::vector<std::string>{"rms_norm|fast|float16|896|1|basic", kCell}));
}

TEST(GoingOn, ACellThatFaultsTheDeviceIsOneCell) {
    ScriptedSession play(kHello + kStarted + cellProgress(kCell) +
                             R"(send job.finished {"status": "failed", "error": {"code": 4, "message": "CUDA error: misaligned address"}})" "\nexit 5\nrestart\n" + kHello + kStarted + kDone,
                         "validate");
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    ASSERT_EQ(play.rowsInStore().size(), 1u);
    const auto row = rowFrom<ValidateRow>(play.rowsInStore()[0].values);
    EXPECT_EQ(row->status, "crashed");
    EXPECT_EQ(row->reason, "CUDA error: misaligned address");
}

TEST(GoingOn, ACellThatHangsIsMarkedAfterItsOwnDeadline) {
    ScriptedSession play(kHello + kStarted + cellProgress(kCell) + "stay\nrestart\n" + kHello + kStarted + kDone, "validate");
    play.request.settings = {{"deadline", 0.3}};
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    ASSERT_EQ(play.rowsInStore().size(), 1u);
    EXPECT_EQ(rowFrom<ValidateRow>(play.rowsInStore()[0].values)->status, "hung");
}

TEST(GoingOn, AVariantThatCrashesThreeTimesInARowIsGivenUp) {
    std::string script;
    for (const char* rows : {"1", "2", "7"})
        script += kHello + kStarted + cellProgress("rms_norm|fast|float16|896|" + std::string(rows) + "|basic") + "die SIGKILL\nrestart\n";
    ScriptedSession play(script + kHello + kStarted + kDone, "validate");
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_EQ(play.rowsInStore().size(), 3u);
    EXPECT_TRUE(holds(play.received(), R"("give_up":["rms_norm|fast"])")) << play.received();
}

TEST(GoingOn, AnEngineThatDiesAtOnceEveryTimeEndsTheJob) {
    ScriptedSession play(kHello + kStarted + cellRow(kCell, "fast", 8) + "exit 1\nrestart\nexit 1\n", "validate");
    EXPECT_EQ(play.runJob().status, RunStatus::failed);
    EXPECT_EQ(play.rowsInStore().size(), 1u);
    EXPECT_LE(play.starts(), 4);
}

TEST(GoingOn, AResumedRunMeasuresNothingTwiceAndStaysOneRun) {
    const std::string next = "rms_norm|fast|float16|896|64|basic";
    ScriptedSession play(kHello + kStarted + cellRow(kCell, "fast", 8) + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n" + kStarted + cellRow(next, "fast", 64) + kDone, "validate");
    play.atRow = [&] { play.session().cancel(); };
    EXPECT_EQ(play.runJob().status, RunStatus::cancelled);
    const std::string id = play.finished[0].first.id;
    play.atRow = nullptr;
    ASSERT_TRUE(play.session().resume(id, play.request).ok());
    play.session().wait();
    ASSERT_EQ(play.finished.size(), 2u);
    EXPECT_EQ(play.finished[1].first.id, id);
    EXPECT_EQ(play.finished[1].first.command, "kernelscope-cli validate") << "the run's own command is kept";
    EXPECT_EQ(play.keysInStore("validate"), (std::vector<std::string>{kCell, next}));
    EXPECT_EQ(play.store->run(id)->header.status, RunStatus::done);
    EXPECT_TRUE(holds(play.received(), R"("skip":[")" + kCell + R"("])")) << play.received();

    ASSERT_TRUE(play.session().resume("nobody", play.request).ok());
    play.session().wait();
    EXPECT_EQ(play.finished[2].second.error.code, ErrorCode::badInput);
}

TEST(GoingOn, CancelDuringTheRestartEndsTheJob) {
    ScriptedSession play(kHello + kStarted + cellProgress(kCell) + "die SIGKILL\nrestart\nstay\n", "validate");
    play.atRow = [&] { play.session().cancel(); };
    EXPECT_EQ(play.runJob().status, RunStatus::cancelled);
    EXPECT_EQ(play.rowsInStore().size(), 1u);
}

}  // namespace
}  // namespace kernelscope
