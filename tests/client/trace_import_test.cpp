// Chrome traces of the torch profiler become profile runs.

#include "core/client/import_trace.h"

#include <cstdio>
#include <ctime>
#include <sstream>

#include <fmt/core.h>

#include "core/client/import.h"
#include "core/records/rows.h"
#include "tests/client/peak_memory.h"
#include "tests/client/scripted_session.h"

namespace kernelscope {
namespace {

std::string event(const std::string& category, const std::string& name, double begin, double duration, int correlation = -1, int thread = 7) {
    return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{"correlation": {}, "shape": [1, [2, 3]], "inner": {{"correlation": 99}}}}}})",
                       category, name, thread, begin, duration, correlation);
}

/// One step of 1000 us: an attention of 600 with a Linear of 200 in it, an MLP of 300; each launches a kernel that runs later.
std::string step(int index) {
    const double at = 10'000 + 2000.0 * index;
    const int base = 10 * index;
    std::string text = event("user_annotation", fmt::format("ProfilerStep#{}", index), at, 1000);
    for (const std::string& part :
         {event("python_function", "nn.Module: Qwen2Attention_0", at + 10, 600), event("python_function", "nn.Module: Linear_0", at + 20, 200), event("cuda_runtime", "cudaLaunchKernel", at + 30, 5, base + 1),
          event("python_function", "nn.Module: Qwen2MLP_0", at + 620, 300), event("cuda_runtime", "cudaLaunchKernel", at + 650, 5, base + 2), event("cuda_runtime", "cudaLaunchKernel", at + 950, 5, base + 3),
          event("kernel", "gemm", at + 1200, 40, base + 1, 20), event("kernel", "silu", at + 1300, 60, base + 2, 20), event("kernel", "stray", at + 1400, 10, base + 3, 20),
          event("cpu_op", "aten::linear", at + 21, 100)})
        text += ",\n" + part;
    return text;
}

std::string trace(const std::string& events) { return "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\"}], \"traceEvents\": [\n" + events + "]}"; }

std::vector<ProfileRow> rowsOf(Store& store, const std::string& id) {
    std::vector<ProfileRow> rows;
    for (const RowRecord& record : *store.rows(id, "profile")) rows.push_back(*rowFrom<ProfileRow>(record.values));
    return rows;
}

const ProfileRow& named(const std::vector<ProfileRow>& rows, const std::string& name) {
    for (const ProfileRow& row : rows)
        if (row.name == name) return row;
    static const ProfileRow none;
    ADD_FAILURE() << "no row " << name;
    return none;
}

class TraceImport : public testing::Test {
protected:
    Result<RunHeader> import(const std::string& text) {
        std::istringstream stream(text);
        return importTrace(*store, stream, "trace.json");
    }
    std::unique_ptr<Store> store = std::move(*Store::open(":memory:"));
};

TEST_F(TraceImport, ModulesAndTheKernelsTheyLaunchedBecomeRowsByType) {
    std::string events;
    for (int i = 0; i < 6; ++i) events += (i ? ",\n" : "") + step(i);
    const auto run = import(trace(events));
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->device, "NVIDIA H200");
    EXPECT_EQ(run->settings.at("iterations"), 6);
    const auto rows = rowsOf(*store, run->id);
    const ProfileRow& attention = named(rows, "Attention");
    EXPECT_DOUBLE_EQ(*attention.spanUs, 600) << "the Linear within counts to it";
    EXPECT_DOUBLE_EQ(*attention.gpuUs, 40);
    EXPECT_EQ(attention.calls, 1);
    EXPECT_EQ(attention.kernels, 1);
    EXPECT_NEAR(*attention.spanSharePct, 60, 1e-9);
    EXPECT_TRUE(attention.spanShareCiLowPct.has_value());
    EXPECT_DOUBLE_EQ(*named(rows, "MLP").gpuUs, 60);
    EXPECT_DOUBLE_EQ(*named(rows, "unattributed").gpuUs, 10) << "launched outside every module";
    EXPECT_DOUBLE_EQ(*named(rows, "unattributed").spanUs, 100);
    EXPECT_DOUBLE_EQ(*named(rows, "total").spanUs, 1000);
    EXPECT_DOUBLE_EQ(*named(rows, "total").gpuUs, 110);
    double shares = 0;
    for (const ProfileRow& row : rows)
        if (row.name != "total") shares += row.spanSharePct.value_or(0);
    EXPECT_NEAR(shares, 100, 1e-9);
    EXPECT_EQ(run->headline, "Decode 1.00 ms a token · GPU busy 110 µs (11 %) · launch-bound · Attention is 63 % of the gaps");
}

TEST_F(TraceImport, WithoutModulesTheKernelsAreTheRowsAndTheRunSaysWhatIsMissing) {
    const auto run = import("[" + event("kernel", "gemm", 100, 40, 1) + "," + event("kernel", "gemm", 200, 20, 2) + "," + event("gpu_memcpy", "copy", 300, 5, 3) + "]");
    ASSERT_TRUE(run.ok()) << run.error().message;
    const auto rows = rowsOf(*store, run->id);
    EXPECT_EQ(named(rows, "gemm").level, "kernel");
    EXPECT_DOUBLE_EQ(*named(rows, "gemm").gpuUs, 60);
    EXPECT_EQ(named(rows, "gemm").kernels, 2);
    EXPECT_FALSE(named(rows, "gemm").spanUs.has_value());
    const std::string missing = run->result.at("missing").dump();
    for (const char* words : {"no module spans", "no profiler steps", "3 kernels without the call that launched them"}) EXPECT_NE(missing.find(words), std::string::npos) << words;
}

TEST_F(TraceImport, WhatIsNoTraceIsRefusedAndLeavesNothing) {
    for (const std::string& text : {std::string(), std::string("{"), std::string("[1, 2"), std::string("{}"), std::string("[]"), trace(""), trace(event("cpu_op", "aten::add", 1, 2)), std::string("\xff\xfe"),
                                    "{\"traceEvents\": " + std::string(100'000, '['), trace(R"({"ph": "X", "cat": "kernel", "name": 7, "ts": "soon", "dur": -1})")}) {
        const auto run = import(text);
        ASSERT_FALSE(run.ok()) << text.substr(0, 60);
        EXPECT_EQ(run.error().code, ErrorCode::badInput);
    }
    EXPECT_TRUE(store->runs()->empty());
    EXPECT_TRUE(looksLikeTrace(" [{"));
    EXPECT_TRUE(looksLikeTrace("{\"traceEvents\": ["));
    EXPECT_FALSE(looksLikeTrace("{\"schema\": 1}"));
    EXPECT_FALSE(looksLikeTrace(""));
}

TEST_F(TraceImport, OfTwoHundredMegabytesTakesUnderTenSecondsAndUnderOneGigabyte) {
    constexpr std::size_t kBytes = 200'000'000;
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "large.json";
    int steps = 0;
    {
        std::ofstream out(file, std::ios::binary);
        out << "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\"}], \"traceEvents\": [\n";
        for (std::size_t written = 0; written < kBytes; ++steps) {
            const std::string text = (steps ? ",\n" : "") + step(steps);
            out << text;
            written += text.size();
        }
        out << "]}";
        ASSERT_TRUE(out.good());
    }
    const bool told = forgetPeakMemory();
    const double before = peakMemoryMiB();
    const std::clock_t begin = std::clock();
    const auto run = importFile(*store, file);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, more = peakMemoryMiB() - before;
    ASSERT_TRUE(run.ok()) << run.error().message;
    std::printf("imported a trace of %.0f MB (%d steps) in %.2f s of CPU time, %.0f MiB more memory at most\n", static_cast<double>(std::filesystem::file_size(file)) / 1e6, steps, seconds, more);
    EXPECT_EQ(run->settings.at("iterations"), steps);
    EXPECT_DOUBLE_EQ(*named(rowsOf(*store, run->id), "Attention").gpuUs, 40);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (told) {
        EXPECT_LT(more, 1000);
    }
    EXPECT_LT(seconds, 30) << "10 s are promised on a machine that does nothing else; this one may be slow and busy";
#else
    (void)told;
#endif
}

}  // namespace
}  // namespace kernelscope
