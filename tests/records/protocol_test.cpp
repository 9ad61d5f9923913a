#include "core/records/protocol.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/records/json_read.h"
#include "core/records/rows.h"

namespace kernelscope {
namespace {

using nlohmann::json;

/// What the other side would read.
json travelled(const json& document) { return json::parse(dumpJson(document)); }

TEST(Protocol, HelloGoesThroughUnchanged) {
    Hello hello{1, "0.1.0", "libtorch 2.11.0, no CUDA", {{"cpu", "a CPU", 1 << 30, 1 << 29, "float32", ""}}};
    const auto back = helloFromJson(travelled(toJson(hello)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(toJson(*back), toJson(hello));
}

TEST(Protocol, ARequestGoesThroughUnchanged) {
    JobRequest request{"profile", "/models/mit Leerzeichen/ä", "cuda:1", "bfloat16", 42, {{"iterations", 50}}, {"a", "b"}, {"rmsnorm|x"}};
    const auto back = jobRequestFromJson(travelled(toJson(request)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(toJson(*back), toJson(request));
}

TEST(Protocol, StartedProgressAndTelemetryGoThroughUnchanged) {
    JobStarted started{{{"cpu", "x"}}, "Qwen2.5-0.5B", "random", "a CPU", "float32", {{"batch", 1}}};
    EXPECT_EQ(toJson(*jobStartedFromJson(travelled(toJson(started)))), toJson(started));
    Progress progress{"Decode passes", 3, 50, 1.25, "decode|type|MLP"};
    EXPECT_EQ(toJson(*progressFromJson(travelled(toJson(progress)))), toJson(progress));
    Telemetry telemetry;
    telemetry.device = "cuda:0";
    telemetry.available = true;
    telemetry.smClockMhz = 1980;
    telemetry.throttle = {"power cap"};
    telemetry.otherProcesses = 2;
    EXPECT_EQ(toJson(*telemetryFromJson(travelled(toJson(telemetry)))), toJson(telemetry));
}

TEST(Protocol, FinishedKeepsItsError) {
    Finished finished;
    finished.status = RunStatus::failed;
    finished.error = makeError(ErrorCode::badInput, "no such model", "name a folder");
    finished.result = {{"text", "hello"}};
    const auto back = finishedFromJson(travelled(toJson(finished)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->status, RunStatus::failed);
    EXPECT_EQ(back->error, finished.error);
    EXPECT_EQ(back->result, finished.result);
}

TEST(Protocol, AJobCannotFinishAsRunning) {
    for (const char* status : {"running", "interrupted", "asleep", ""})
        EXPECT_FALSE(finishedFromJson({{"status", status}}).ok()) << status;
    EXPECT_FALSE(finishedFromJson(json::object()).ok());
}

TEST(Protocol, ARowGoesThroughUnchanged) {
    RowRecord record{"sample", "k", valuesOf(SampleRow{"r", "span_us", 3, std::nan("")})};
    const auto back = rowRecordFromJson(travelled(toJson(record)));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(toJson(*back), toJson(record));
}

TEST(Protocol, AMegabyteWhereAWordBelongsIsShortened) {
    const std::string much(1'000'000, 'x');
    Finished finished;
    finished.headline = much;
    EXPECT_LT(finishedFromJson(toJson(finished))->headline.size(), 2'000u);
    DeviceInfo device;
    device.id = "cpu";
    device.name = device.problem = much;
    EXPECT_LT(deviceInfoFromJson(toJson(device))->name.size(), 1'000u);
    Progress progress;
    progress.phase = progress.cell = much;
    EXPECT_LT(progressFromJson(toJson(progress))->phase.size(), 1'000u);
    RowRecord record{"sample", "k", valuesOf(SampleRow{much, "span_us", 3, 1.5})};
    EXPECT_LT(std::get<std::string>(rowRecordFromJson(toJson(record))->values[0]).size(), 20'000u);
    record.key = much;
    EXPECT_FALSE(rowRecordFromJson(toJson(record)).ok()) << "a shortened key would be another row's";
}

TEST(Protocol, AFailureWithoutWordsIsGivenSome) {
    Finished finished;
    finished.status = RunStatus::failed;
    EXPECT_EQ(finishedFromJson(toJson(finished))->error.message, "the engine failed and did not say why");
    const auto answer = parseLine(R"({"jsonrpc": "2.0", "id": 1, "error": {"code": 0, "message": ""}})");
    ASSERT_TRUE(answer && answer->error);
    EXPECT_NE(answer->error->message, "");
    EXPECT_NE(answer->error->advice, "");
}

TEST(Protocol, AnUnknownRowTypeIsRefusedByName) {
    EXPECT_EQ(rowRecordFromJson({{"type", "weather"}, {"key", "k"}, {"row", json::object()}}).error().message,
              "job.row: there is no row type 'weather'");
}

TEST(Protocol, EveryLineEndsWithOneNewlineAndHoldsNoOther) {
    const json text = {{"prompt", "two\nlines"}};
    for (const std::string& line : {requestLine(1, "job.start", text), notificationLine("log", text), responseLine(1, text),
                                    errorLine(nullptr, -32700, makeError(ErrorCode::usage, "parse\nerror"))}) {
        EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
    }
}

TEST(Protocol, InvalidUtf8IsReplacedWhenWritten) {
    const std::string line = notificationLine("log", {{"text", std::string("bad \xff\xfe bytes")}});
    const auto message = parseLine(line);
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->params.at("text"), "bad \xEF\xBF\xBD\xEF\xBF\xBD bytes");
}

TEST(Protocol, RequestNotificationAnswerAndErrorAreToldApart) {
    const auto request = parseLine(requestLine(7, "job.cancel", json::object()));
    ASSERT_TRUE(request.ok());
    EXPECT_EQ(request->method, "job.cancel");
    EXPECT_EQ(request->id, 7);
    const auto notification = parseLine(notificationLine("telemetry", json::object()));
    ASSERT_TRUE(notification.ok());
    EXPECT_TRUE(notification->id.is_null());
    const auto answer = parseLine(responseLine(7, {{"a", 1}}));
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->result->at("a"), 1);
    const auto error = parseLine(errorLine(7, -32000, makeError(ErrorCode::badInput, "no such model", "look")));
    ASSERT_TRUE(error.ok());
    EXPECT_EQ(error->error, makeError(ErrorCode::badInput, "no such model", "look"));
}

TEST(Protocol, AnErrorFromAForeignPeerStillHasWords) {
    const auto message = parseLine(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}})");
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->error->message, "Method not found");
    EXPECT_EQ(message->error->code, ErrorCode::environment);
}

TEST(Protocol, WhatIsNoJsonIsAParseError) {
    for (const std::string& line : {std::string(), std::string("{"), std::string("{\"a\":1e999}"), std::string("\xff\xfe"),
                                    std::string("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"), std::string(200'000, '['),
                                    std::string("{} {}"), std::string("\0{}", 3), std::string("nul"), std::string("{\"a\":\"\\ud800\"}")}) {
        const auto message = parseLine(line);
        ASSERT_FALSE(message.ok()) << line.substr(0, 50);
        EXPECT_EQ(message.error().message, "parse error");
        EXPECT_EQ(message.error().code, ErrorCode::usage);
    }
}

TEST(Protocol, WhatIsNoMessageIsAnInvalidRequest) {
    for (const char* line : {"1", "null", "[]", "{}", "\"x\"", R"({"jsonrpc":"1.0","method":"x"})", R"({"jsonrpc":2.0,"method":"x"})",
                             R"({"jsonrpc":"2.0","method":1})", R"({"jsonrpc":"2.0","method":""})",
                             R"({"jsonrpc":"2.0","method":"x","params":[1]})", R"({"jsonrpc":"2.0","method":"x","id":{}})",
                             R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","result":1})",
                             R"({"jsonrpc":"2.0","id":1,"result":1,"error":{}})", R"({"jsonrpc":"2.0","id":1,"error":"x"})",
                             R"({"jsonrpc":"2.0","id":1,"error":{"message":3}})"}) {
        const auto message = parseLine(line);
        ASSERT_FALSE(message.ok()) << line;
        EXPECT_EQ(message.error().message.rfind("invalid request", 0), 0u) << line;
    }
}

TEST(Protocol, WrongKindsInEveryMessageAreErrorsAndNeverThrow) {
    const json wrongValues[] = {nullptr, true, -1, 1e300, 18446744073709551615ULL, "text", json::array({1, "a", nullptr}),
                                json::object({{"a", json::array()}})};
    const json samples[] = {toJson(Hello{}), toJson(DeviceInfo{"cpu"}), toJson(JobRequest{"profile"}), toJson(JobStarted{}),
                            toJson(Progress{}), toJson(Finished{}), toJson(Telemetry{}),
                            toJson(RowRecord{"sample", "k", valuesOf(SampleRow{})})};
    const auto readAll = [](const json& object) {
        int refused = 0;
        refused += !helloFromJson(object).ok();
        refused += !deviceInfoFromJson(object).ok();
        refused += !jobRequestFromJson(object).ok();
        refused += !jobStartedFromJson(object).ok();
        refused += !progressFromJson(object).ok();
        refused += !finishedFromJson(object).ok();
        refused += !telemetryFromJson(object).ok();
        refused += !rowRecordFromJson(object).ok();
        return refused;
    };
    for (const json& wrong : wrongValues) {
        if (!wrong.is_object()) {
            EXPECT_EQ(readAll(wrong), 8) << wrong;
        }
        for (const json& sample : samples)
            for (const auto& [key, value] : sample.items()) {
                json changed = sample;
                changed[key] = wrong;
                EXPECT_NO_THROW(readAll(changed)) << changed;
            }
    }
    EXPECT_EQ(progressFromJson({{"done", "three"}}).error().message, "job.progress: done is not an integer");
    EXPECT_EQ(helloFromJson({{"protocol", 1e12}}).error().message, "engine.hello: protocol is out of range");
}

}  // namespace
}  // namespace kernelscope
