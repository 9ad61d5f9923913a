#include "core/records/process_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

/// 0 when `holds` was true in a process of its own that did nothing else.
int inAnotherProcess(const std::function<bool()>& holds) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(holds() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(ProcessGuard, AClosedStreamIsNotTheNextFilesDescriptor) {
    EXPECT_EQ(inAnotherProcess([] {
        for (const int stream : {0, 1, 2}) ::close(stream);
        guardProcess();
        return ::open("/dev/null", O_RDWR) > 2 && ::write(1, "x", 1) < 0 && ::write(2, "x", 1) == 1;
    }), 0);
}

TEST(ProcessGuard, AReaderThatGoesAwayAndAFullFileAreErrorsAndNoEnd) {
    EXPECT_EQ(inAnotherProcess([] {
        guardProcess();
        int ends[2];
        if (::pipe(ends) != 0) return false;
        ::close(ends[0]);
        const bool pipe = ::write(ends[1], "x", 1) < 0 && errno == EPIPE;
        const rlimit nothing{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &nothing);
        char name[] = "/tmp/kernelscope-guard-XXXXXX";
        const int file = ::mkstemp(name);
        ::unlink(name);
        return pipe && ::write(file, "x", 1) < 0 && errno == EFBIG;
    }), 0);
}

TEST(ProcessGuard, OthersCannotWriteWhatIsMadeAndTheRestOfTheUmaskStays) {
    EXPECT_EQ(inAnotherProcess([] {
        ::umask(027);
        guardProcess();
        if (::umask(0) != 027) return false;
        guardProcess();
        return ::umask(0) == 002;
    }), 0);
}

}  // namespace
}  // namespace kernelscope
