#include "core/client/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

extern char** environ;

namespace kernelscope {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

void closeDescriptor(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

void makeNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

int pollFor(pollfd* fds, std::size_t count, milliseconds timeout) {
    constexpr auto kLongest = milliseconds(3'600'000);  // keeps the int of poll() far from overflow
    return ::poll(fds, count, static_cast<int>(std::clamp(timeout, milliseconds(0), kLongest).count()));
}

/// Reads what is there, at most `limit` bytes. False at the end of the stream.
bool readAvailable(int fd, std::string& target, std::size_t limit) {
    char buffer[1 << 16];
    while (target.size() < limit) {
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got > 0) target.append(buffer, static_cast<std::size_t>(got));
        else if (got == 0) return false;
        else if (errno == EINTR) continue;
        else return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    return true;
}

struct Pipe {
    int read = -1, write = -1;
    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        read = ends[0];
        write = ends[1];
        return true;
    }
    ~Pipe() { closeDescriptor(read); closeDescriptor(write); }
    static int release(int& fd) { const int held = fd; fd = -1; return held; }
};

}  // namespace

std::string ProcessEnd::words() const {
    if (signal == 0) return "exit code " + std::to_string(exitCode);
    const char* name = ::sigabbrev_np(signal);
    return "signal " + std::to_string(signal) + (name ? std::string(" (SIG") + name + ")" : std::string());
}

WakeUp::WakeUp() {
    Pipe pipe;
    if (!pipe.open()) throw std::system_error(errno, std::system_category(), "pipe");
    makeNonBlocking(pipe.read);
    makeNonBlocking(pipe.write);
    m_read = Pipe::release(pipe.read);
    m_write = Pipe::release(pipe.write);
}

WakeUp::~WakeUp() {
    closeDescriptor(m_read);
    closeDescriptor(m_write);
}

void WakeUp::wake() {
    const char byte = 0;
    [[maybe_unused]] const auto ignored = ::write(m_write, &byte, 1);  // a full pipe wakes just as well
}

void WakeUp::drain() {
    std::string ignored;
    readAvailable(m_read, ignored, 1 << 16);
}

void waitForWakeUp(WakeUp& wakeUp, milliseconds timeout) {
    pollfd fd{wakeUp.m_read, POLLIN, 0};
    if (pollFor(&fd, 1, timeout) > 0) wakeUp.drain();
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& argv) {
    if (argv.empty()) return makeError(ErrorCode::environment, "there is no program to start");
    const auto failed = [&](int error) {
        const bool scarce = error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM;
        return makeError(ErrorCode::environment, "cannot start " + argv.front() + ": " + std::system_category().message(error), scarce ? "raise the limits of this shell (ulimit -a shows them), or close other programs" : "");
    };
    Pipe in, out, err;
    if (!in.open() || !out.open() || !err.open()) return failed(errno);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // A working folder that is gone, as a rebuild leaves it to a shell, keeps libraries of the child from being loaded.
    if (struct stat here {}; ::stat(".", &here) != 0 || here.st_nlink == 0) posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawn_file_actions_adddup2(&actions, in.read, 0);
    posix_spawn_file_actions_adddup2(&actions, out.write, 1);
    posix_spawn_file_actions_adddup2(&actions, err.write, 2);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return failed(error);

    std::unique_ptr<ChildProcess> child(new ChildProcess);
    child->m_pid = pid;
    child->m_in = Pipe::release(in.write);
    child->m_out = Pipe::release(out.read);
    child->m_err = Pipe::release(err.read);
    for (const int fd : {child->m_in, child->m_out, child->m_err}) makeNonBlocking(fd);
    return child;
}

ChildProcess::~ChildProcess() {
    kill();
    closeDescriptor(m_in);
    closeDescriptor(m_out);
    closeDescriptor(m_err);
}

void ChildProcess::write(std::string_view bytes) {
    if (m_in < 0 || m_closeInput) return;
    m_pending += bytes;
    flush();
}

void ChildProcess::closeInput() {
    m_closeInput = true;
    flush();
}

void ChildProcess::flush() {
    if (m_in < 0) return;
    // A child that closed its input must not kill us with SIGPIPE: the signal is held back and thrown away.
    sigset_t pipeSignal, before;
    sigemptyset(&pipeSignal);
    sigaddset(&pipeSignal, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipeSignal, &before);
    while (m_written < m_pending.size()) {
        const ssize_t count = ::write(m_in, m_pending.data() + m_written, m_pending.size() - m_written);
        if (count > 0) {
            m_written += static_cast<std::size_t>(count);
        } else if (errno == EPIPE) {
            if (!sigismember(&before, SIGPIPE)) {
                const timespec now{};
                ::sigtimedwait(&pipeSignal, nullptr, &now);
            }
            m_written = m_pending.size();
            m_closeInput = true;
        } else if (errno != EINTR) {
            break;  // full for now; wait() goes on when there is room
        }
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (m_written == m_pending.size()) {
        m_pending.clear();
        m_written = 0;
        if (m_closeInput) closeDescriptor(m_in);
    }
}

ChildProcess::Output ChildProcess::wait(WakeUp& wakeUp, milliseconds timeout) { return wait(&wakeUp, timeout); }
ChildProcess::Output ChildProcess::wait(milliseconds timeout) { return wait(nullptr, timeout); }

ChildProcess::Output ChildProcess::wait(WakeUp* wakeUp, milliseconds timeout) {
    pollfd fds[4] = {{wakeUp ? wakeUp->m_read : -1, POLLIN, 0},  // poll() passes over negative descriptors
                     {m_out, POLLIN, 0},
                     {m_err, POLLIN, 0},
                     {m_pending.empty() ? -1 : m_in, POLLOUT, 0}};
    Output output;
    if (pollFor(fds, 4, timeout) > 0) {
        if (fds[0].revents) wakeUp->drain();
        if (fds[1].revents && !readAvailable(m_out, output.out, kReadLimit)) closeDescriptor(m_out);
        if (fds[2].revents && !readAvailable(m_err, output.err, kReadLimit)) closeDescriptor(m_err);
        if (fds[3].revents) flush();
    }
    output.outClosed = m_out < 0;
    output.errClosed = m_err < 0;
    return output;
}

std::optional<ProcessEnd> ChildProcess::end() {
    if (m_end || m_pid < 0) return m_end;
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(m_pid), &status, WNOHANG);
    if (got == m_pid) m_end = WIFSIGNALED(status) ? ProcessEnd{0, WTERMSIG(status)} : ProcessEnd{WEXITSTATUS(status), 0};
    else if (got < 0 && errno == ECHILD) m_end = ProcessEnd{};  // somebody else reaped it
    return m_end;
}

std::optional<ProcessEnd> ChildProcess::waitForEnd(milliseconds timeout) {
    const auto until = std::chrono::steady_clock::now() + timeout;
    for (auto pause = milliseconds(1); !end() && std::chrono::steady_clock::now() < until; pause = std::min(pause * 2, milliseconds(20)))
        std::this_thread::sleep_for(pause);
    return end();
}

ProcessEnd ChildProcess::kill() {
    if (m_pid < 0) return {};
    if (const auto ended = end()) {
        ::kill(-static_cast<pid_t>(m_pid), SIGKILL);  // what it may have started; the group may be gone, which is fine
        return *ended;
    }
    ::kill(-static_cast<pid_t>(m_pid), SIGKILL);
    ::kill(static_cast<pid_t>(m_pid), SIGKILL);
    int status = 0;
    while (::waitpid(static_cast<pid_t>(m_pid), &status, 0) < 0 && errno == EINTR) {}
    m_end = WIFSIGNALED(status) ? ProcessEnd{0, WTERMSIG(status)} : ProcessEnd{WEXITSTATUS(status), 0};
    return *m_end;
}

fs::path executablePath() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

bool isExecutable(const fs::path& file) {
    std::error_code error;
    return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

namespace {

std::string firstLine(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// Clock ticks after boot at which the process started; pids come back, this pair does not. Empty: no such process.
std::string startTime(const std::string& pid) {
    const std::string line = firstLine("/proc/" + pid + "/stat");
    const auto name = line.rfind(')');  // the name before it may hold anything
    if (name == std::string::npos) return {};
    std::istringstream fields(line.substr(name + 1));
    std::string field;
    for (int i = 0; i < 20; ++i) fields >> field;  // state is the first after the name, the start time the 20th
    return field;
}

std::string hostAndBoot() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return std::string(name) + " " + firstLine("/proc/sys/kernel/random/boot_id");
}

}  // namespace

std::string processIdentity() {
    const std::string pid = std::to_string(::getpid());
    return pid + " " + startTime(pid) + " " + hostAndBoot();
}

bool mayStillRun(const std::string& identity) {
    std::istringstream fields(identity);
    std::string pid, start, host, boot;
    fields >> pid >> start >> host >> boot;
    std::istringstream ours(hostAndBoot());
    std::string ourHost, ourBoot;
    ours >> ourHost >> ourBoot;
    if (pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) return false;
    if (host != ourHost) return true;  // a store on a shared disk: that machine will say
    return boot == ourBoot && !start.empty() && startTime(pid) == start;
}

void blockSignalsInThisThread() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace kernelscope
