// CUDA sources through NVRTC and the jobs of a real engine, on a GPU.

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "core/client/kernel_versions.h"
#include "core/records/rows.h"
#include "tests/own/own_kernel_fixture.h"

namespace kernelscope::test {
namespace {

class OwnCudaKernel : public OwnKernel {
protected:
    void SetUp() override {
        SessionOptions options;
        options.engine.argv = {KERNELSCOPE_ENGINE_PATH};
        options.telemetryIntervalMs = 0;
        bool found = false;
        std::mutex mutex;
        std::condition_variable heard;
        bool said = false;
        SessionListener listener;
        listener.hello = [&](const Hello& hello) {
            const std::lock_guard lock(mutex);
            for (const DeviceInfo& device : hello.devices) found = found || (device.id.starts_with("cuda") && device.problem.empty());
            said = true;
            heard.notify_all();
        };
        Session session(options, nullptr, listener);
        session.connect();
        std::unique_lock lock(mutex);
        ASSERT_TRUE(heard.wait_for(lock, std::chrono::seconds(60), [&] { return said; })) << "no hello from " << KERNELSCOPE_ENGINE_PATH;
        if (!found) GTEST_SKIP() << "no CUDA device here";
        m_device = "cuda";
    }
};

TEST_F(OwnCudaKernel, EveryTemplatePassesEveryCase) {
    for (const std::string& op : templateOperators()) {
        const RunHeader header = validate(fromTemplate(op, "my_" + op + ".cu"), {{"hidden", {112, 896, 769}}});
        ASSERT_EQ(header.status, RunStatus::done) << op << ": " << m_finished.error.message;
        int ok = 0;
        for (const ValidateRow& row : rowsOf<ValidateRow>(header)) {
            if (row.status == "ok") ++ok;
            else EXPECT_TRUE(row.status == "skipped" || row.caseName == "last_stride") << op << " " << row.status << " " << row.dtype << " " << row.rows << " x " << row.hidden << " " << row.caseName << ": " << row.reason;
        }
        EXPECT_GT(ok, 200) << op;
    }
}

TEST_F(OwnCudaKernel, ASweepAndTheRunsHeaderSayHowItDoes) {
    const RunHeader header = run("sweep", {{"kernel", fromTemplate("rms_norm", "my_norm.cu")}, {"hidden", {896}}, {"rows", {1, 64, 2048}}, {"dtypes", "float16,bfloat16"}, {"repeats", 50}});
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    const KernelVersion version = versionOf(header, m_finished, *m_store->rows(header.id, "sweep"), "my_norm");
    EXPECT_EQ(version.state, "right") << version.firstWrong;
    ASSERT_TRUE(version.speedup);
    EXPECT_GT(*version.speedup, 1) << "one kernel against eight";
    const nlohmann::json resources = header.environment.at("own_kernel").at("resources");
    ASSERT_EQ(resources.size(), 3U);
    for (const nlohmann::json& one : resources) {
        EXPECT_GT(one.at("registers").get<int>(), 0);
        EXPECT_GT(one.at("shared_bytes").get<int>(), 0);
        EXPECT_EQ(one.at("local_bytes").get<int>(), 0);
        EXPECT_EQ(one.at("block").get<int>(), 256);
        EXPECT_GT(one.at("blocks_per_multiprocessor").get<int>(), 0);
        EXPECT_GT(one.at("occupancy_pct").get<double>(), 0);
        EXPECT_FALSE(one.at("limited_by").get<std::string>().empty());
    }
}

TEST_F(OwnCudaKernel, ItRunsInsideTheModelEagerAndInAGraph) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cu");
    const RunHeader header = run("e2e", {{"kernel", kernel}, {"mode", "both"}, {"new_tokens", 8}, {"prompt_tokens", 8}, {"runs", 3}, {"warmup", 1}});
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    for (const EndToEndRow& row : rowsOf<EndToEndRow>(header)) {
        if (row.configuration == "patched") {
            EXPECT_TRUE(row.speedup && row.tokensMatch);
        }
    }
    const RunHeader profiled = run("profile", {{"kernel", kernel}, {"level", "kernel"}, {"iterations", 3}, {"warmup", 1}});
    ASSERT_EQ(profiled.status, RunStatus::done) << m_finished.error.message;
    const auto rows = rowsOf<ProfileRow>(profiled);
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const ProfileRow& row) { return row.name.find("rms_norm_kernel") != std::string::npos; }));
}

TEST_F(OwnCudaKernel, WhatDoesNotCompileIsSaidWithFileAndLine) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cu", "const T* from = x", "const T* from = nonsense");
    EXPECT_EQ(validate(kernel).status, RunStatus::failed);
    EXPECT_EQ(m_finished.error.code, ErrorCode::badInput);
    EXPECT_TRUE(says(kernel + ":") && says("nonsense")) << m_finished.error.message;
}

TEST_F(OwnCudaKernel, AnEndlessKernelCostsItsCells) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cu", "    float squares = 0.0f;", "    while (rows == 33) asm volatile(\"nanosleep.u32 1000;\");\n    float squares = 0.0f;");
    const RunHeader header = validate(kernel, {{"cases", "standard"}, {"dtypes", "float16"}, {"rows", {1, 33}}, {"deadline", 3}});
    EXPECT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    std::map<std::string, int> statuses = statusesOf(header);
    EXPECT_EQ(statuses["hung"], 2);
    EXPECT_GT(statuses["ok"], 5);
}

TEST_F(OwnCudaKernel, WritingOutOfBoundsIsSeenAndSaidWhere) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cu", "    float squares = 0.0f;", "    if (threadIdx.x == 0) to[hidden] = fromFloat<T>(1.0f);\n    float squares = 0.0f;");
    const RunHeader header = validate(kernel, {{"cases", "standard"}, {"dtypes", "float32"}});
    EXPECT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    bool said = false;
    for (const ValidateRow& row : rowsOf<ValidateRow>(header)) said = said || (row.status == "wrong" && row.reason.find("out of bounds") != std::string::npos);
    EXPECT_TRUE(said);
}

TEST_F(OwnCudaKernel, AFaultCostsItsCellsAndARestart) {
    const std::string kernel = fromTemplate("rms_norm", "my_norm.cu", "    float squares = 0.0f;", "    if (rows == 33) *reinterpret_cast<volatile int*>(0x70000000000ull) = 1;\n    float squares = 0.0f;");
    const RunHeader header = validate(kernel, {{"cases", "standard"}, {"dtypes", "float16"}, {"rows", {1, 33}}});
    EXPECT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    std::map<std::string, int> statuses = statusesOf(header);
    EXPECT_EQ(statuses["crashed"], 2);
    EXPECT_GT(statuses["ok"], 5);
}

TEST_F(OwnCudaKernel, InTheModelAFaultOrAHangIsNamed) {
    const nlohmann::json few{{"new_tokens", 4}, {"prompt_tokens", 8}, {"runs", 2}, {"warmup", 0}};
    const auto jobWith = [&](const std::string& kind, const std::string& line, nlohmann::json settings) {
        settings["kernel"] = fromTemplate("rms_norm", "my_norm.cu", "    float squares = 0.0f;", line + "\n    float squares = 0.0f;");
        const RunHeader header = run(kind, settings);
        EXPECT_EQ(header.status, RunStatus::failed) << kind;
        EXPECT_EQ(m_finished.error.code, ErrorCode::cantTell) << kind << m_finished.error.message;
        EXPECT_TRUE(says("validate --kernel ")) << m_finished.error.advice;
        return m_finished.error.message;
    };
    const std::string fault = "    *reinterpret_cast<volatile int*>(0x70000000000ull) = 1;", late = "    static int calls; if (threadIdx.x == 0 && blockIdx.x == 0 && atomicAdd(&calls, 1) > 3000) *reinterpret_cast<volatile int*>(0x70000000000ull) = 1;";
    for (const auto& [kind, settings] : std::vector<std::pair<std::string, nlohmann::json>>{{"e2e", few}, {"generate", {{"prompt_ids", {1, 2, 3}}, {"new_tokens", 4}}}, {"profile", {{"iterations", 3}}}, {"context", {{"context", {8}}, {"batch", {1}}}}}) {
        const std::string words = jobWith(kind, fault, settings);
        EXPECT_TRUE(words.starts_with("rms_norm=my_norm faults the GPU at this model's shapes (")) << kind << ": " << words;
    }
    const std::string words = jobWith("e2e", late, {{"new_tokens", 50}, {"prompt_tokens", 8}, {"runs", 200}, {"warmup", 0}, {"mode", "both"}});
    EXPECT_TRUE(words.starts_with("rms_norm=my_norm faults the GPU")) << words;
    const std::string hang = jobWith("e2e", "    while (rows >= 1) asm volatile(\"nanosleep.u32 1000;\");", few);
    EXPECT_TRUE(hang.starts_with("rms_norm=my_norm hangs at this model's shapes (no sign of life for 10 s)")) << hang;
}

TEST_F(OwnCudaKernel, ShapesItDoesNotServeAreRefusedAndALaunchThatCannotBeIsWrong) {
    const std::string picky = fromTemplate("rms_norm", "picky.cu", "// kernelscope: grid = rows\n", "// kernelscope: grid = rows\n// kernelscope: requires = hidden % 8 == 0 && alignment >= 16\n// kernelscope: types = float16\n");
    const RunHeader refused = validate(picky, {{"hidden", {112, 769}}, {"dtypes", "float16,float32"}});
    ASSERT_EQ(refused.status, RunStatus::done) << m_finished.error.message;
    std::map<std::string, int> statuses = statusesOf(refused);
    EXPECT_EQ(statuses["wrong"], 0);
    EXPECT_GT(statuses["refused"], 0);
    EXPECT_GT(statuses["ok"], 0);
    const std::string large = fromTemplate("rms_norm", "large.cu", "// kernelscope: grid = rows\n", "// kernelscope: grid = rows\n// kernelscope: shared = 400000\n");
    const RunHeader wrong = validate(large, {{"cases", "standard"}, {"dtypes", "float16"}});
    ASSERT_EQ(wrong.status, RunStatus::done) << m_finished.error.message;
    EXPECT_GT(statusesOf(wrong)["wrong"], 0);
}

}  // namespace
}  // namespace kernelscope::test
