// A sweep over several engines: each gets its part and its device, and their rows make one run.

#include "core/client/spread.h"

#include <condition_variable>
#include <mutex>

#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

std::string sweepRow(const std::string& key, int rows, const std::string& device, double speedup) {
    return R"(send job.row {"type": "sweep", "key": ")" + key + R"(", "row": {"op": "rms_norm", "variant": "fused", "dtype": "float32", "hidden": 896, "rows": )" + std::to_string(rows) +
           R"(, "cache": "cold", "status": "ok", "speedup": )" + std::to_string(speedup) + R"(, "device": ")" + device + "\"}}\n";
}
std::string key(int rows) { return "rms_norm|fused|float32|896|" + std::to_string(rows) + "|cold"; }
std::string done(int cells) { return R"(send job.finished {"status": "done", "headline": "a part", "result": {"counts": {"ok": )" + std::to_string(cells) + "}}}\n"; }

const std::string kGpus = "await engine.hello\nhello " + std::to_string(kProtocolVersion) + " cuda:0 cuda:1 cuda:3\n";

/// Engines take the parts of the script in the order in which they start.
struct Spread {
    explicit Spread(const std::string& script) {
        std::ofstream(folder / "script") << script;
        store = std::move(*Store::open(folder / "runs.sqlite"));
        options.engine.argv = {KERNELSCOPE_SCRIPTED_ENGINE, (folder / "script").string()};
        options.telemetryIntervalMs = 0;
        options.helloDeadline = std::chrono::seconds(20);
        request.kind = "sweep";
        request.settings = {{"deadline", 20}};
    }
    const Finished& run(const std::vector<std::string>& devices, const std::string& resumes = {}) {
        SessionListener listener;
        listener.jobStarted = [this](const RunHeader&) { ++started; };
        Session* running = nullptr;
        listener.row = [this, &running](const RowRecord& row) {
            rows.push_back(row.key);
            if (atRow) atRow(*running);
        };
        listener.progress = [this](const Progress& progress) { last = progress; };
        listener.jobFinished = [this](const RunHeader& header, const Finished& end) { finished.emplace_back(header, end); };
        request.device.clear();
        for (const std::string& device : devices) request.device += (request.device.empty() ? "" : ",") + device;
        Session session(options, store.get(), std::move(listener));
        running = &session;
        const auto accepted = resumes.empty() ? session.start(request, "kernelscope-cli sweep") : session.resume(resumes, request);
        EXPECT_TRUE(accepted.ok());
        session.wait();
        EXPECT_FALSE(finished.empty());
        return finished.back().second;
    }
    std::string received() const {
        std::ifstream in(folder / "script.received");
        return {std::istreambuf_iterator<char>(in), {}};
    }

    TemporaryFolder folder;
    std::unique_ptr<Store> store;
    SessionOptions options;
    JobRequest request;
    int started = 0;
    Progress last;
    std::vector<std::string> rows;
    std::function<void(Session&)> atRow;
    std::vector<std::pair<RunHeader, Finished>> finished;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Spread, TwoEnginesMakeOneRunWhoseRowsNameTheirDevice) {
    Spread play(kGpus + kStarted + sweepRow(key(1), 1, "cuda:0", 10) + done(1) + "restart\n" + kGpus + kStarted + sweepRow(key(8), 8, "cuda:1", 12) + done(1));
    EXPECT_EQ(play.run({"cuda:0", "cuda:1"}).status, RunStatus::done);
    ASSERT_EQ(play.finished.size(), 1u) << "one end for all";
    EXPECT_EQ(play.started, 1);
    const auto runs = play.store->runs();
    ASSERT_EQ(runs->size(), 1u);
    const RunSummary run = *play.store->run(runs->front().header.id);
    EXPECT_EQ(run.header.status, RunStatus::done);
    EXPECT_EQ(run.rows, 2);
    EXPECT_EQ(run.header.headline, "2 cells, against native: fused 10.95x (geometric mean)");
    EXPECT_EQ(run.header.result.at("counts").at("ok"), 2);
    std::vector<std::string> devices;
    for (const RowRecord& row : *play.store->rows(run.header.id, "sweep")) devices.push_back(rowFrom<SweepRow>(row.values)->device);
    std::sort(devices.begin(), devices.end());
    EXPECT_EQ(devices, (std::vector<std::string>{"cuda:0", "cuda:1"}));
    for (const char* part : {R"("part":0,"parts":2)", R"("part":1,"parts":2)", R"("device":"cuda:0")", R"("device":"cuda:1")"}) EXPECT_TRUE(holds(play.received(), part)) << play.received();
}

TEST(Spread, ADeviceThatCrashesMarksItsCellAndGoesOn) {
    const std::string progress = R"(send job.progress {"phase": "Timing", "cell": ")" + key(8) + "\"}\n";
    Spread play(kGpus + kStarted + progress + "die SIGSEGV\nrestart\n" + kGpus + kStarted + done(0));
    EXPECT_EQ(play.run({"cuda:3"}).status, RunStatus::done);
    const auto run = play.store->run("last");
    const auto stored = play.store->rows(run->header.id, "sweep");
    ASSERT_EQ(stored->size(), 1u);
    const auto row = rowFrom<SweepRow>(stored->front().values);
    EXPECT_EQ(row->status, "crashed");
    EXPECT_EQ(row->device, "cuda:3") << "a lost cell names its device too";
}

TEST(Spread, ADeviceThatCannotWorkEndsTheOthersAndTheRunGoesOnLater) {
    // Both parts refuse or wait, whichever engine plays which.
    Spread play(kGpus + kStarted + sweepRow(key(1), 1, "cpu", 10) + "sign measured\nawait job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\nrestart\n" + kGpus +
                "until measured\nawait job.start\nrefuse 4 There is no device cuda:1\nrestart\n" + kGpus + kStarted + sweepRow(key(8), 8, "cpu", 10) + done(1));
    const Finished& end = play.run({"cuda:0", "cuda:1"});
    EXPECT_EQ(end.status, RunStatus::failed);
    EXPECT_TRUE(holds(end.error.message, "There is no device cuda:1")) << end.error.message;
    const auto runs = play.store->runs();
    ASSERT_EQ(runs->size(), 1u);
    EXPECT_EQ(runs->front().header.status, RunStatus::failed);

    EXPECT_EQ(play.run({"cpu"}, runs->front().header.id).status, RunStatus::done);
    EXPECT_EQ(play.store->run(runs->front().header.id)->rows, 2);
    EXPECT_EQ(play.store->runs()->size(), 1u);
    EXPECT_TRUE(holds(play.received(), "\"skip\":[\"" + key(1) + "\"]")) << "what is there is not measured again";
}

TEST(Spread, AListWithADeviceThatIsNotThereIsRefusedAndNothingIsWritten) {
    for (const auto& [devices, words] : {std::pair<std::vector<std::string>, std::string>{{"cpu", "cuda:7"}, "There is no device cuda:7"}, {{"cuda:0", "cuda:2"}, "cuda:2 cannot be used: the driver is too old"}}) {
        const std::string part = "await engine.hello\nhello " + std::to_string(kProtocolVersion) + " cuda:0 cuda:2!\nawait job.start\n";
        Spread play(part + "restart\n" + part);
        const Finished& end = play.run(devices);
        EXPECT_EQ(end.status, RunStatus::failed);
        EXPECT_EQ(end.error.code, ErrorCode::environment);
        EXPECT_TRUE(holds(end.error.message, words)) << end.error.message;
        EXPECT_FALSE(end.error.advice.empty());
        EXPECT_EQ(play.finished.size(), 1u);
        EXPECT_EQ(play.started, 0);
        EXPECT_TRUE(play.store->runs()->empty());
        EXPECT_FALSE(holds(play.received(), "job.start")) << "no part has begun";
    }
}

TEST(Spread, AnEngineThatDiesBeforeItsHelloEndsTheSweepBeforeItBegins) {
    Spread play(kGpus + "await job.start\nrestart\nsay no such module\nexit 3\n");
    const Finished& end = play.run({"cuda:0", "cuda:1"});
    EXPECT_EQ(end.status, RunStatus::failed);
    EXPECT_TRUE(holds(end.error.message, "no such module")) << end.error.message;
    EXPECT_TRUE(play.store->runs()->empty());
}

TEST(Spread, CancelledBeforeTheEnginesAreThereItLeavesNothing) {
    Spread play("await engine.hello\nhang\n");
    std::optional<Finished> end;
    SessionListener listener;
    listener.jobFinished = [&](const RunHeader& header, const Finished& finished) {
        EXPECT_EQ(header.status, RunStatus::cancelled);
        end = finished;
    };
    SpreadSession spread(play.options, {"cpu", "cpu"}, play.store.get(), std::move(listener));
    ASSERT_TRUE(spread.start(play.request, "kernelscope-cli sweep"));
    spread.cancel();
    spread.wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->status, RunStatus::cancelled);
    EXPECT_TRUE(play.store->runs()->empty());
}

TEST(Spread, OnlyASweepIsSpreadAndTheNextJobRuns) {
    Spread play(kHello + kStarted + sweepRow(key(8), 8, "cpu", 10) + done(1));
    play.request.kind = "profile";
    EXPECT_EQ(play.run({"cpu", "cpu"}).error.code, ErrorCode::usage);
    play.request.kind = "sweep";
    EXPECT_EQ(play.run({"cpu"}).status, RunStatus::done);
}

TEST(Spread, CancelStopsEveryEngineAndKeepsTheRows) {
    const std::string part = kHello + kStarted + sweepRow(key(1), 1, "cpu", 10) + "await job.cancel\n" R"(send job.finished {"status": "cancelled"})" "\n";
    Spread play(part + "restart\n" + part);
    play.atRow = [&](Session& session) { session.cancel(); };
    EXPECT_EQ(play.run({"cpu", "cpu"}).status, RunStatus::cancelled);
    EXPECT_EQ(play.store->runs()->front().header.status, RunStatus::cancelled);
}

TEST(Spread, ListsOfDevicesAreCheckedInWords) {
    EXPECT_EQ(*parseDevices("cuda:0, cuda:1"), (std::vector<std::string>{"cuda:0", "cuda:1"}));
    EXPECT_EQ(*parseDevices("cpu,cpu"), (std::vector<std::string>{"cpu", "cpu"})) << "a CPU has room for several";
    std::string many = "cpu";
    for (int i = 0; i < 64; ++i) many += ",cpu";  // 65 engines would take the machine's memory
    for (const std::string& text : {std::string(), std::string("cuda:0,"), std::string("cuda"), std::string("auto"), std::string("cuda:0,cuda:0"), std::string("cuda:0,cuda:00"), std::string("cuda:01"),
                                    std::string("cuda:x"), std::string("cuda:"), std::string("cuda:99999"), std::string(100'000, 'x'), many}) {
        const auto devices = parseDevices(text);
        ASSERT_FALSE(devices.ok()) << text;
        EXPECT_EQ(devices.error().code, ErrorCode::usage);
        EXPECT_FALSE(devices.error().advice.empty());
        EXPECT_LT(devices.error().message.size(), 200u);
    }
}

}  // namespace
}  // namespace kernelscope
