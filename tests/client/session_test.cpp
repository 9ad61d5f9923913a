// What a session does with an engine that behaves.

#include "tests/client/scripted_session.h"

#include <future>

namespace kernelscope {
namespace {

TEST(Session, AJobsRowsAreInTheStoreWhenTheListenerSeesThem) {
    ScriptedSession play(kHello + kStarted + profileRow("Attention", 300) + profileRow("total", 1000) + kDone);
    std::vector<std::int64_t> inStore;
    play.atRow = [&] { inStore.push_back(*play.store->rowCount(play.started.back().id, "profile")); };
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    ASSERT_EQ(play.rows.size(), 2u);
    for (std::size_t i = 0; i < inStore.size(); ++i) EXPECT_GE(inStore[i], static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(play.keysInStore("profile"), (std::vector<std::string>{"Attention", "total"}));
    const RunSummary run = *play.store->run("last");
    EXPECT_EQ(run.rows, 2);
    EXPECT_EQ(run.header.status, RunStatus::done);
    EXPECT_EQ(run.header.headline, "all well");
    EXPECT_EQ(run.header.result, nlohmann::json({{"figure", 7}}));
    EXPECT_EQ(run.header.command, "kernelscope-cli profile");
    EXPECT_EQ(run.header.dtype, "float32");
    EXPECT_EQ(run.header.settings, nlohmann::json({{"iterations", 3}}));
}

TEST(Session, ARowThatComesAgainReplacesItselfInItsPlace) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + profileRow("B", 2) + profileRow("A", 3) + kDone);
    play.runJob();
    EXPECT_EQ(play.rows.size(), 3u);
    EXPECT_EQ(play.keysInStore("profile"), (std::vector<std::string>{"A", "B"}));
    EXPECT_EQ(rowFrom<ProfileRow>(play.rowsInStore()[0].values)->spanUs, 3);
}

TEST(Session, AProfileWithoutAHeadlineGetsTheComputedOne) {
    ScriptedSession play(kHello + kStarted + profileRow("MLP", 500) + profileRow("total", 1000) + R"(send job.finished {"status": "done"})" "\n");
    EXPECT_EQ(play.runJob().headline, "Decode 1.00 ms a token · MLP 50 %");
}

TEST(Session, TheSameEngineTakesTheNextJob) {
    ScriptedSession play(kHello + kStarted + kDone + kStarted + profileRow("A", 1) + kDone);
    play.runJob();
    play.runJob();
    EXPECT_EQ(play.starts(), 1);
    EXPECT_EQ(play.hellos.size(), 1u);
    EXPECT_EQ(play.store->runs()->size(), 2u);
    EXPECT_EQ(play.rowsInStore().size(), 1u);
    EXPECT_EQ(play.states, (std::vector{EngineState::starting, EngineState::busy, EngineState::idle, EngineState::busy, EngineState::idle}));
}

TEST(Session, ASecondJobAtOnceIsRefused) {
    ScriptedSession play(kHello + kStarted + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n");
    ASSERT_TRUE(play.session().start(play.request, "one").ok());
    const auto second = play.session().start(play.request, "two");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::usage);
    play.session().cancel();
    play.session().wait();
    EXPECT_EQ(play.finished.size(), 1u);
}

TEST(Session, ARefusedRequestEndsTheJobInTheEnginesWordsAndLeavesNoRun) {
    ScriptedSession play(kHello + "await job.start\nrefuse 65 there is no model 'x'\n");
    const Finished& end = play.runJob();
    EXPECT_EQ(end.status, RunStatus::failed);
    EXPECT_EQ(end.error, makeError(ErrorCode::badInput, "there is no model 'x'", "try another"));
    EXPECT_TRUE(play.store->runs()->empty());
    EXPECT_TRUE(play.started.empty());
}

TEST(Session, AFailureTheEngineReportsIsKeptWithItsRows) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) +
                         R"(send job.finished {"status": "failed", "error": {"code": 4, "message": "out of memory", "advice": "use less"}})" "\n");
    EXPECT_EQ(play.runJob().error, makeError(ErrorCode::environment, "out of memory", "use less"));
    EXPECT_EQ(play.store->run("last")->header.reason, "out of memory");
    EXPECT_EQ(play.rowsInStore().size(), 1u);
}

TEST(Session, CancelKeepsTheRowsThatHadArrived) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + "await job.cancel\n" + profileRow("B", 2) + R"(send job.finished {"status": "cancelled"})" "\n");
    play.atRow = [&] { play.session().cancel(); };
    EXPECT_EQ(play.runJob().status, RunStatus::cancelled);
    EXPECT_EQ(play.keysInStore("profile"), (std::vector<std::string>{"A", "B"}));
    EXPECT_EQ(play.starts(), 1);
}

TEST(Session, AnEngineThatIgnoresCancelIsKilledAfterTheGrace) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + "stay\n");
    play.options.cancelGrace = std::chrono::milliseconds(100);
    std::chrono::steady_clock::time_point asked;
    play.atRow = [&] { asked = std::chrono::steady_clock::now(); play.session().cancel(); };
    const Finished& end = play.runJob();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - asked);
    std::printf("cancelled a deaf engine after %lld ms (grace 100 ms)\n", static_cast<long long>(took.count()));
    EXPECT_EQ(end.status, RunStatus::cancelled);
    EXPECT_EQ(play.store->run("last")->header.status, RunStatus::cancelled);
    EXPECT_EQ(play.rowsInStore().size(), 1u);
    EXPECT_LT(took.count(), 1000);
    EXPECT_EQ(play.states.back(), EngineState::stopped) << "on purpose: it is not lost";
}

TEST(Session, CancelWhileTheEngineStartsEndsTheJobAtOnce) {
    ScriptedSession play("stay\n");
    ASSERT_TRUE(play.session().start(play.request, "x").ok());
    play.session().cancel();
    play.session().wait();
    ASSERT_EQ(play.finished.size(), 1u);
    EXPECT_EQ(play.finished[0].second.status, RunStatus::cancelled);
    EXPECT_TRUE(play.store->runs()->empty());
}

TEST(Session, ItsEndCancelsTheJobAndKeepsTheRun) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n");
    std::promise<void> row;
    play.atRow = [&] { row.set_value(); };
    ASSERT_TRUE(play.session().start(play.request, "x").ok());
    row.get_future().wait();
    play.stop();
    ASSERT_EQ(play.finished.size(), 1u);
    EXPECT_EQ(play.store->run("last")->header.status, RunStatus::cancelled);
}

TEST(Session, CallsAreAnsweredOrRefusedInWords) {
    ScriptedSession play(kHello + "await model.inspect\nanswer {\"layers\": 2}\nawait model.inspect\nrefuse 65 not a model\n");
    std::promise<Result<nlohmann::json>> first, second;
    play.session().call("model.inspect", {{"model", "a"}}, [&](auto answer) { first.set_value(std::move(answer)); });
    play.session().call("model.inspect", {{"model", "b"}}, [&](auto answer) { second.set_value(std::move(answer)); });
    const auto good = first.get_future().get();
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(good->at("layers"), 2);
    EXPECT_EQ(second.get_future().get().error().message, "not a model");
}

TEST(Session, ACallThatIsTooLongForTheEngineIsRefusedAndNotWaitedFor) {
    ScriptedSession play(kHello + "stay\n");
    std::promise<Result<nlohmann::json>> answer;
    play.session().call("model.tokenize", {{"text", std::string(std::size_t{65} << 20, 'x')}}, [&](auto result) { answer.set_value(std::move(result)); });
    auto coming = answer.get_future();
    ASSERT_EQ(coming.wait_for(std::chrono::seconds(30)), std::future_status::ready) << "the engine passes over such a line without a word";
    const auto result = coming.get();
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("more than the 64.0 MiB that it reads at once"), std::string::npos) << result.error().message;
}

TEST(Session, AnOpenCallHearsOfTheEnginesDeath) {
    ScriptedSession play(kHello + "await model.inspect\ndie SIGSEGV\n");
    std::promise<Result<nlohmann::json>> answer;
    play.session().call("model.inspect", {}, [&](auto result) { answer.set_value(std::move(result)); });
    const auto result = answer.get_future().get();
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("SIGSEGV"), std::string::npos) << result.error().message;
}

TEST(Session, WithoutAStoreNothingIsKeptAndEverythingIsReported) {
    ScriptedSession play(kHello + kStarted + profileRow("A", 1) + kDone);
    play.storeUsed = false;
    EXPECT_EQ(play.runJob().status, RunStatus::done);
    EXPECT_EQ(play.rows.size(), 1u);
    EXPECT_TRUE(play.store->runs()->empty());
}

TEST(Session, UserTextReachesTheEngineUnchanged) {
    ScriptedSession play(kHello + kStarted + kDone);
    play.request.settings = {{"prompt", "two\nlines; $(rm -rf /) \"quoted\" ä漢"}};
    play.runJob();
    EXPECT_NE(play.received().find(nlohmann::json("two\nlines; $(rm -rf /) \"quoted\" ä漢").dump()), std::string::npos);
}

TEST(EngineCommand, IsSplitAsAShellWouldWithoutAShell) {
    const auto argv = [](const std::string& text) { return parseEngineCommand(text)->argv; };
    using Words = std::vector<std::string>;
    EXPECT_EQ(argv("ssh host kernelscope-engine"), (Words{"ssh", "host", "kernelscope-engine"}));
    EXPECT_EQ(argv("  a\t'b c'  \"d \\\"e\\\" $HOME \\x\" f\\ g ''"), (Words{"a", "b c", "d \"e\" $HOME \\x", "f g", ""}));
    EXPECT_EQ(argv("a'b'\"c\"d"), (Words{"abcd"}));
    EXPECT_EQ(argv("echo $(id) `id` ; rm * | x"), (Words{"echo", "$(id)", "`id`", ";", "rm", "*", "|", "x"}));
    for (const char* text : {"", "   ", "'open", "\"open", "end\\"}) {
        const auto refused = parseEngineCommand(text);
        ASSERT_FALSE(refused.ok()) << text;
        EXPECT_EQ(refused.error().code, ErrorCode::usage);
    }
}

TEST(EngineCommand, RunsNoShellSoThatNothingInItIsExecuted) {
    const TemporaryFolder folder;
    const std::string file = (folder / "made").string();
    const auto command = parseEngineCommand("env printf %s '$(touch " + file + ")' `touch " + file + "` ; touch " + file + " | touch " + file + " > " + file);
    ASSERT_TRUE(command.ok());
    SessionOptions options;
    options.engine = *command;
    Session session(options, nullptr, {});
    ASSERT_TRUE(session.start({.kind = "profile"}, "x").ok());
    session.wait();
    EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace kernelscope
