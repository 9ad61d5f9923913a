#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/own/program.h"

extern char** environ;

namespace kernelscope {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20;

std::string readAll(int descriptor) {
    std::string text;
    char buffer[1 << 14];
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        if (text.size() < kMostOutput) text.append(buffer, static_cast<std::size_t>(got));
    }
}

}  // namespace

Result<ProgramEnd> runToEnd(const std::vector<std::string>& argv) {
    const auto failed = [&](int error) {
        return makeError(ErrorCode::environment, "cannot start " + argv.front() + ": " + std::system_category().message(error));
    };
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    pid_t child = -1;
    const int error = ::posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
        ::close(ends[0]);
        return failed(error);
    }
    ProgramEnd end;
    end.output = readAll(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    end.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return end;
}

}  // namespace kernelscope
