// The real engine, killed, stopped and watched from outside in the middle of a job on the CPU.

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <condition_variable>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/client/session.h"
#include "core/client/store.h"
#include "core/records/kernel_rows.h"
#include "core/records/rows.h"
#include "tests/support/temporary_folder.h"

namespace kernelscope {
namespace {

namespace fs = std::filesystem;

std::vector<pid_t> engines() {
    std::vector<pid_t> children;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream in(entry.path() / "stat");
        std::string line;
        std::getline(in, line);
        const auto after = line.rfind(')');
        std::istringstream fields(after == std::string::npos ? std::string() : line.substr(after + 1));
        std::string state;
        pid_t parent = 0;
        if (fields >> state >> parent && parent == ::getpid() && state != "Z") children.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return children;
}

struct Job {
    std::unique_ptr<Store> store = std::move(*Store::open(":memory:"));
    std::vector<Progress> progress;
    std::vector<std::string> log;
    RunHeader header;
    Finished finished;
    std::function<void()> atCell;

    void run(std::string kind, nlohmann::json settings, std::string device = "cpu") {
        ::setenv("OMP_NUM_THREADS", "1", 0);
        SessionListener listener;
        listener.progress = [this](const Progress& step) {
            progress.push_back(step);
            if (!step.cell.empty() && atCell) atCell();
        };
        listener.log = [this](const std::string& line) { log.push_back(line); };
        listener.jobFinished = [this](const RunHeader& run, const Finished& end) {
            header = run;
            finished = end;
        };
        SessionOptions options;
        options.engine.argv = {KERNELSCOPE_ENGINE_PATH};
        options.telemetryIntervalMs = 0;
        Session session(options, store.get(), std::move(listener));
        JobRequest request{.kind = std::move(kind), .model = "qwen2.5-tiny", .device = std::move(device)};
        request.settings = std::move(settings);
        ASSERT_TRUE(session.start(std::move(request), "x").ok());
        session.wait();
    }
};

class RealIsolation : public testing::TestWithParam<int> {};

TEST_P(RealIsolation, ASignalCostsTheCellInHandAndNoOther) {
    Job job;
    bool sent = false;
    job.atCell = [&] {
        if (std::exchange(sent, true)) return;
        const auto children = engines();
        ASSERT_EQ(children.size(), 1u);
        ::kill(children.front(), GetParam());
    };
    // Large enough that the signal arrives while the cell is being worked on.
    job.run("validate", {{"op", "rms_norm"}, {"variant", "native"}, {"hidden", {4096}}, {"rows", {1024, 2048}}, {"dtypes", "float32"}, {"deadline", 4}});
    EXPECT_EQ(job.finished.status, RunStatus::done) << job.finished.error.message;
    int lost = 0, measured = 0;
    for (const RowRecord& record : *job.store->rows(job.header.id, "validate")) {
        const auto row = rowFrom<ValidateRow>(record.values);
        const bool gone = row->status == "crashed" || row->status == "hung";
        if (gone) {
            EXPECT_EQ(row->status, GetParam() == SIGSTOP ? "hung" : "crashed") << row->reason;
        }
        (gone ? lost : measured) += 1;
    }
    EXPECT_EQ(lost, 1);
    EXPECT_GE(measured, 2);
}

INSTANTIATE_TEST_SUITE_P(Every, RealIsolation, testing::Values(SIGKILL, SIGSEGV, SIGABRT, SIGSTOP), [](const auto& info) { return std::string("SIG") + ::sigabbrev_np(info.param); });

TEST(RealEngine, ListensNowhereWhileItWorks) {
    Job job;
    int looked = 0;
    job.atCell = [&] {
        if (looked++) return;
        for (const pid_t engine : engines()) {
            std::string sockets;
            for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(engine) + "/fd")) {
                std::error_code ignored;
                const std::string target = fs::read_symlink(entry.path(), ignored).string();
                if (target.starts_with("socket:")) sockets += target + " ";
            }
            EXPECT_EQ(sockets, "") << "the engine speaks through its pipes alone";
        }
    };
    job.run("validate", {{"op", "rms_norm"}, {"variant", "native"}, {"hidden", {64}}, {"rows", {1}}, {"dtypes", "float32"}});
    EXPECT_EQ(job.finished.status, RunStatus::done) << job.finished.error.message;
    EXPECT_GT(looked, 0);
}

TEST(RealEngine, ASweepSpreadOverTwoEnginesIsOneWholeRunWhoseRowsNameTheirDevice) {
    const nlohmann::json settings = {{"op", "rms_norm"}, {"variant", "native"}, {"hidden", {64}}, {"rows", {1, 2, 3, 4, 5}}, {"dtypes", "float32"}, {"repeats", 5}};
    Job job;
    std::size_t most = 0;
    job.atCell = [&] { most = std::max(most, engines().size()); };
    job.run("sweep", settings, "cpu,cpu");
    EXPECT_EQ(job.finished.status, RunStatus::done) << job.finished.error.message;
    EXPECT_EQ(most, 2u) << "one engine a device";
    EXPECT_EQ(job.store->runs()->size(), 1u);
    const auto rows = job.store->rows(job.header.id, "sweep");
    ASSERT_EQ(rows->size(), 5u) << "every shape once";
    for (const RowRecord& record : *rows) EXPECT_EQ(rowFrom<SweepRow>(record.values)->device, "cpu");
    std::int64_t counted = 0;
    for (const auto& [status, count] : job.header.result.at("counts").items()) counted += count.get<std::int64_t>();
    EXPECT_EQ(counted, 5) << "the parts' counts are added up";
    EXPECT_FALSE(job.header.settings.contains("parts"));
}

TEST(RealEngine, ListsTheFoldersOfItsMachine) {
    const test::TemporaryFolder temporary;
    const fs::path& folder = temporary.path();
    fs::create_directories(folder / "a model");
    fs::create_directories(folder / ".hidden");
    fs::create_directories(folder / "other");
    for (const char* name : {"config.json", "model.safetensors"}) std::ofstream(folder / "a model" / name) << "{}";
    std::vector<Result<nlohmann::json>> answers;
    {
        SessionOptions options;
        options.engine.argv = {KERNELSCOPE_ENGINE_PATH};
        std::mutex mutex;
        std::condition_variable arrived;
        Session session(options, nullptr, {});
        for (const std::string& path : {folder.string(), (folder / "nowhere").string(), (folder / "a model" / "config.json").string(), std::string()}) {
            session.call("folder.list", {{"path", path}}, [&](Result<nlohmann::json> answer) {
                const std::lock_guard lock(mutex);
                answers.push_back(std::move(answer));
                arrived.notify_all();
            });
        }
        std::unique_lock lock(mutex);
        arrived.wait(lock, [&] { return answers.size() == 4; });
    }
    ASSERT_TRUE(answers[0].ok()) << answers[0].error().message;
    EXPECT_EQ(answers[0]->at("path"), folder.string());
    EXPECT_EQ(answers[0]->at("parent"), folder.parent_path().string());
    EXPECT_EQ(answers[0]->at("folders"), nlohmann::json::parse(R"([{"name": "a model", "model": true}, {"name": "other", "model": false}, {"name": ".hidden", "model": false}])"));
    EXPECT_FALSE(answers[1].ok());
    EXPECT_NE(answers[1].error().message.find("does not exist"), std::string::npos);
    EXPECT_NE(answers[2].error().message.find("no folder"), std::string::npos);
    ASSERT_TRUE(answers[3].ok()) << "nothing: the home";
    EXPECT_FALSE(answers[3]->at("path").get<std::string>().empty());
}

}  // namespace
}  // namespace kernelscope
