// The engine program itself, spoken to through its pipes.

#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "core/client/process.h"
#include "core/device/device.h"
#include "core/records/protocol.h"

namespace kernelscope {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class EngineServer : public testing::Test {
protected:
    void SetUp() override { child = std::move(ChildProcess::start({KERNELSCOPE_ENGINE_PATH}).value()); }

    void say(const std::string& line) { child->write(line); }
    std::int64_t ask(const std::string& method, const nlohmann::json& params) {
        say(requestLine(++lastId, method, params));
        return lastId;
    }

    /// The next message for which `wanted` holds; what comes before it is dropped. Fails the test after a minute.
    template <typename Wanted>
    RpcMessage next(Wanted wanted, std::chrono::milliseconds patience = 60s) {
        const auto until = Clock::now() + patience;
        while (Clock::now() < until) {
            for (auto end = buffer.find('\n'); end != std::string::npos; end = buffer.find('\n')) {
                const Result<RpcMessage> message = parseLine(buffer.substr(0, end));
                buffer.erase(0, end + 1);
                if (!message) {
                    ADD_FAILURE() << "the engine wrote something else than protocol: " << message.error().message;
                    return {};
                }
                if (wanted(*message)) return *message;
            }
            const ChildProcess::Output output = child->wait(wakeUp, 100ms);
            buffer += output.out;
            if (output.outClosed && buffer.find('\n') == std::string::npos) break;
        }
        ADD_FAILURE() << "the engine did not say what was waited for";
        return {};
    }
    RpcMessage answerTo(std::int64_t id) {
        return next([id](const RpcMessage& message) { return message.method.empty() && message.id == id; });
    }
    RpcMessage notification(const std::string& method) {
        return next([&](const RpcMessage& message) { return message.method == method; });
    }
    static nlohmann::json tinyProfile(const nlohmann::json& settings) {
        JobRequest request;
        request.kind = "profile";
        request.model = "qwen2.5-tiny";
        request.device = "cpu";
        request.settings = settings;
        return toJson(request);
    }

    std::unique_ptr<ChildProcess> child;
    WakeUp wakeUp;
    std::string buffer;
    std::int64_t lastId = 0;
};

TEST_F(EngineServer, SaysHelloWithItsDevices) {
    const RpcMessage answer = answerTo(ask("engine.hello", {{"protocol", kProtocolVersion}}));
    ASSERT_TRUE(answer.result);
    const Result<Hello> hello = helloFromJson(*answer.result);
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->protocol, kProtocolVersion);
    EXPECT_EQ(hello->devices.back().id, "cpu");
    EXPECT_TRUE(hello->devices.back().problem.empty());
}

TEST_F(EngineServer, AProfileOfACpuNamesItsThreadsAndOneDnnAndKeepsItsWorkAndRates) {
    const RpcMessage started = answerTo(ask("job.start", tinyProfile({{"iterations", 2}, {"warmup", 1}, {"phase", "both"}})));
    ASSERT_TRUE(started.result);
    const nlohmann::json& environment = started.result->at("environment");
    EXPECT_EQ(environment.at("cpu_parallel_backend"), "OpenMP");
    EXPECT_GE(environment.at("cpu_threads").get<int>(), 1);
    EXPECT_GE(environment.at("cpu_interop_threads").get<int>(), 1);
    EXPECT_TRUE(environment.at("onednn").is_boolean());
    if (environment.at("onednn") == true) { EXPECT_EQ(environment.at("onednn_version").get<std::string>().find_first_not_of("0123456789."), std::string::npos); }
    const RpcMessage finished = notification("job.finished");
    const nlohmann::json& result = finished.params.at("result");
    EXPECT_GT(result.at("limits").at("copy_gb_per_s").get<double>(), 0.1);
    EXPECT_GT(result.at("limits").at("matmul_tflops").get<double>(), 1e-4);
    EXPECT_EQ(result.at("work").at("decode").size(), 7U);
    EXPECT_EQ(result.at("work").at("prefill").size(), 7U);
    EXPECT_NE(finished.params.at("headline").get<std::string>().find("-bound"), std::string::npos) << finished.params.dump();
}

TEST_F(EngineServer, AnswersEveryBadLineWithAnErrorAndGoesOn) {
    const std::vector<std::string> bad{"{", "nonsense", "[]", "42", "\"text\"", "{\"jsonrpc\":\"2.0\"}", "\xff\xfe\xfd", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
                                       std::string(100'000, '[')};
    for (const std::string& line : bad) {
        say(line + "\n");
        const RpcMessage answer = next([](const RpcMessage& message) { return message.error.has_value(); });
        EXPECT_TRUE(answer.error) << line.substr(0, 40);
    }
    EXPECT_TRUE(answerTo(ask("device.list", nlohmann::json::object())).result);
}

TEST_F(EngineServer, RefusesWhatItDoesNotKnowByName) {
    EXPECT_NE(answerTo(ask("engine.fly", {})).error->message.find("engine.fly"), std::string::npos);
    EXPECT_NE(answerTo(ask("job.start", {{"kind", "dance"}})).error->message.find("dance"), std::string::npos);
    EXPECT_NE(answerTo(ask("job.start", tinyProfile({{"iteration", 3}}))).error->message.find("iteration"), std::string::npos);
    EXPECT_EQ(answerTo(ask("model.inspect", {{"model", "no-such-model"}})).error->code, ErrorCode::badInput);
    EXPECT_EQ(answerTo(ask("job.start", {{"kind", "profile"}, {"model", "qwen2.5-tiny"}, {"device", "cuda:77"}})).error->code, ErrorCode::environment);
    EXPECT_EQ(answerTo(ask("job.start", {{"kind", "profile"}, {"model", "qwen2.5-tiny"}, {"device", "tpu"}})).error->code, ErrorCode::usage);
}

TEST_F(EngineServer, GraphModeKernelLevelAndTheCrossCheckNeedCudaAndSaySoBeforeAnythingRuns) {
    EXPECT_EQ(answerTo(ask("job.start", tinyProfile({{"mode", "graph"}}))).error->code, ErrorCode::environment);
    EXPECT_EQ(answerTo(ask("job.start", tinyProfile({{"level", "kernel"}}))).error->code, ErrorCode::environment);
    const RpcMessage checked = answerTo(ask("job.start", tinyProfile({{"cross_check", true}})));
    ASSERT_TRUE(checked.error);
    EXPECT_EQ(checked.error->code, ErrorCode::environment);
    EXPECT_NE(checked.error->advice.find("--cross-check"), std::string::npos);
}

TEST_F(EngineServer, APassWhoseActivationsDoNotFitIsRefusedBeforeItRuns) {
    // A quarter of the free memory for the cache, 256 bytes a token; what the MLP holds is eleven times that.
    constexpr std::int64_t kTokens = 32'000, kCacheBytes = 256;
    const Result<Device> cpu = openDevice("cpu");
    ASSERT_TRUE(cpu.ok());
    const Result<std::int64_t> free = freeBytes(*cpu);
    ASSERT_TRUE(free.ok());
    const std::int64_t batch = std::clamp<std::int64_t>(*free / 4 / (kTokens * kCacheBytes), 1, 4096);
    const RpcMessage answer = answerTo(ask("job.start", tinyProfile({{"phase", "prefill"}, {"prompt_tokens", kTokens}, {"batch", batch}})));
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->code, ErrorCode::environment);
    EXPECT_NE(answer.error->message.find("GiB needed"), std::string::npos) << answer.error->message;
}

TEST_F(EngineServer, AModelThatIsTooLargeIsRefusedBeforeLoadingWithNeededAndFree) {
    JobRequest request;
    request.kind = "profile";
    request.model = "qwen2.5-72b";
    request.device = "cpu";
    const RpcMessage answer = answerTo(ask("job.start", toJson(request)));
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->code, ErrorCode::environment);
    EXPECT_NE(answer.error->message.find("GiB needed"), std::string::npos) << answer.error->message;
    EXPECT_NE(answer.error->message.find("GiB free"), std::string::npos) << answer.error->message;
}

TEST_F(EngineServer, AJobStreamsRowsAfterEveryPassAndFinishesOnce) {
    const RpcMessage started = answerTo(ask("job.start", tinyProfile({{"iterations", 6}, {"warmup", 1}})));
    ASSERT_TRUE(started.result) << started.error->message;
    EXPECT_EQ(jobStartedFromJson(*started.result)->weights, "random");
    int totals = 0, finished = 0;
    const RpcMessage end = next([&](const RpcMessage& message) {
        if (message.method == "job.row" && message.params.value("key", "") == "decode/type/total") ++totals;
        if (message.method == "job.finished") ++finished;
        return message.method == "job.finished";
    });
    EXPECT_GE(totals, 6);
    EXPECT_EQ(finishedFromJson(end.params)->status, RunStatus::done);
    ask("job.cancel", {});  // nothing runs: no second job.finished may follow
    const std::int64_t id = ask("device.list", {});
    next([&](const RpcMessage& message) {
        if (message.method == "job.finished") ++finished;
        return message.id == id;
    });
    EXPECT_EQ(finished, 1);
}

TEST_F(EngineServer, RefusesASecondJobAndCancelsTheFirstWithinASecond) {
    ASSERT_TRUE(answerTo(ask("job.start", tinyProfile({{"iterations", 100'000}}))).result);
    notification("job.row");
    EXPECT_NE(answerTo(ask("job.start", tinyProfile({}))).error->message.find("one runs at a time"), std::string::npos);
    const auto asked = Clock::now();
    ask("job.cancel", {});
    const RpcMessage end = notification("job.finished");
    EXPECT_LT(Clock::now() - asked, 1s);
    EXPECT_EQ(finishedFromJson(end.params)->status, RunStatus::cancelled);
}

TEST_F(EngineServer, LeavesAtOnceWhenItsInputClosesEvenDuringAJob) {
    ASSERT_TRUE(answerTo(ask("job.start", tinyProfile({{"iterations", 100'000}}))).result);
    notification("job.row");
    const auto closed = Clock::now();
    child->closeInput();
    std::optional<ProcessEnd> end;
    while (!end && Clock::now() - closed < 5s) {
        (void)child->wait(wakeUp, 20ms);
        end = child->end();
    }
    ASSERT_TRUE(end);
    EXPECT_LT(Clock::now() - closed, 1s);
    EXPECT_EQ(end->exitCode, 0);
    EXPECT_EQ(end->signal, 0);
}

TEST_F(EngineServer, LeavesWhenItsInputClosesAlsoWhereNobodyReadsItsAnswers) {
    // A connection that has died below ssh: what it carried is neither read nor closed. The answers to these fill the pipe several times over.
    for (int i = 0; i < 500; ++i) (void)ask("engine.hello", nlohmann::json::object());
    child->closeInput();
    const auto end = child->waitForEnd(20s);
    ASSERT_TRUE(end) << "it holds its GPU for ever";
    EXPECT_EQ(end->words(), "exit code 0");
}

TEST_F(EngineServer, TelemetryOfACpuSaysWhyThereIsNone) {
    ASSERT_TRUE(answerTo(ask("telemetry.start", {{"device", "cpu"}, {"interval_ms", 100}})).result);
    const Result<Telemetry> state = telemetryFromJson(notification("telemetry").params);
    ASSERT_TRUE(state);
    EXPECT_FALSE(state->available);
    EXPECT_FALSE(state->reason.empty());
    notification("telemetry");
}

TEST_F(EngineServer, ExaminesItsMachine) {
    const RpcMessage answer = answerTo(ask("engine.doctor", {}));
    ASSERT_TRUE(answer.result);
    const nlohmann::json& checks = answer.result->at("checks");
    ASSERT_GE(checks.size(), 3U);
    for (const nlohmann::json& check : checks) {
        EXPECT_FALSE(check.at("finding").get<std::string>().empty()) << check.dump();
        EXPECT_FALSE(check.at("why").get<std::string>().empty()) << check.dump();
        if (check.at("status") != "ok") { EXPECT_FALSE(check.at("fix").get<std::string>().empty()) << check.dump(); }
    }
}

TEST_F(EngineServer, TakesNoArguments) {
    auto withArguments = std::move(ChildProcess::start({KERNELSCOPE_ENGINE_PATH, "--model", "x"}).value());
    const auto end = withArguments->waitForEnd(20s);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exitCode, 64);
}

}  // namespace
}  // namespace kernelscope
