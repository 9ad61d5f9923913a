// What a kernel can do to the engine that it runs in, besides crashing: flood its output, write into the protocol or close it, take all
// memory, stop the process, wait for itself. Each costs the cell in hand, or nothing; the sweep goes on behind it.

#include <gtest/gtest.h>

#include "tests/own/own_kernel_fixture.h"

namespace kernelscope::test {
namespace {

// The kernel of each row count misbehaves in its own way; the protocol is the one pipe beyond standard error that can be written.
const char* const kMisbehaviour = R"(
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <string>
#include <vector>

static int protocol() {
    for (int fd = 3; fd < 64; ++fd) {
        struct stat is;
        if (fstat(fd, &is) == 0 && S_ISFIFO(is.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) return fd;
    }
    return -1;
}
static void say(int fd, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = write(fd, text.data() + done, text.size() - done);
        if (count <= 0) return;
        done += static_cast<size_t>(count);
    }
}
static void misbehave(int64_t rows) {
    static int64_t last = 0;
    if (rows == last) return;  // once a cell is enough
    last = rows;
    std::string many;
    switch (rows) {
        case 2:
            for (int i = 0; i < 20'000; ++i) std::printf("a kernel that prints, line %d\n", i);
            std::fflush(stdout);
            break;
        case 4: say(protocol(), "\xff\xfe\xc3\x28\n{\"jsonrpc\":\"2.0\"}\n[1]\n"); break;
        case 6: say(protocol(), "{\"jsonrpc\":\"2.0\",\"method\":\"job.progress\",\"params\":{\"done\":-9,\"total\":3}}\n"); break;
        case 8:
            for (int i = 0; i < 5000; ++i) many += "no message\n";
            say(protocol(), many);
            break;
        case 10: close(protocol()); break;
        case 12: say(protocol(), "{\"jsonrpc\":\"2.0\",\"method\":\"job.row\",\"par"); raise(SIGKILL); break;
        case 14: {
            struct rlimit little = {size_t{1} << 20, size_t{1} << 20};
            setrlimit(RLIMIT_AS, &little);
            for (std::vector<std::vector<char>> all;;) all.emplace_back(size_t{64} << 20);
        }
        case 16: raise(SIGSTOP); break;
        case 18: {
            static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
            pthread_mutex_lock(&once);
            pthread_mutex_lock(&once);
        }
        default: break;
    }
}
)";

TEST_F(OwnKernel, WhateverItDoesToTheEngineCostsItsCellAtMost) {
    std::string source = *kernelTemplate("rms_norm", "rude.cpp");
    const std::string begin = "#include <cmath>\n", call = "    switch (dtype) {";
    source.insert(source.find(begin), kMisbehaviour);
    source.insert(source.find(call), "    misbehave(rows);\n");
    const std::map<int, std::string> expected = {{2, "ok"}, {4, "ok"}, {6, "ok"}, {8, "crashed"}, {10, "crashed"}, {12, "crashed"}, {14, "skipped"}, {16, "hung"}, {18, "hung"}};
    // A good row between two bad ones: a variant that crashes three times in a row is given up.
    std::vector<int> rows;
    for (int count = 2; count < 20; ++count) rows.push_back(count);
    const RunHeader header = run("sweep", {{"kernel", write("rude.cpp", source)}, {"hidden", {64}}, {"rows", rows}, {"dtypes", "float32"}, {"repeats", 3}, {"deadline", 4}});
    ASSERT_EQ(header.status, RunStatus::done) << m_finished.error.message;
    std::size_t seen = 0;
    for (const SweepRow& row : rowsOf<SweepRow>(header)) {
        if (row.variant != "rude") continue;
        ++seen;
        const auto bad = expected.find(static_cast<int>(row.rows));
        const bool measured = row.status == "ok" || row.status == "noisy" || row.status == "throttled";
        if (bad == expected.end() || bad->second == "ok") {
            EXPECT_TRUE(measured) << row.rows << ": " << row.status << " " << row.reason;
        } else {
            EXPECT_EQ(row.status, bad->second) << row.rows << ": " << row.reason;
        }
        if (!measured) {
            EXPECT_NE(row.reason, "") << row.rows;
        }
        if (row.rows == 10) {
            EXPECT_NE(row.reason.find("cannot write its answers: Bad file descriptor"), std::string::npos) << row.reason;
        }
    }
    EXPECT_EQ(seen, rows.size()) << "every shape has its row";
}

}  // namespace
}  // namespace kernelscope::test
