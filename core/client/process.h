#pragma once
// A child process with pipes on its three standard streams, and what the system says about processes.
// The only implementation is process_posix.cpp; nothing else knows the system.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

/// How a process ended.
struct ProcessEnd {
    int exitCode = 0;
    int signal = 0;  ///< not 0: it was killed by this one
    /// "exit code 3", "signal 11 (SIGSEGV)"
    [[nodiscard]] std::string words() const;
};

/// Ends a wait early, from any thread.
class WakeUp {
public:
    WakeUp();
    ~WakeUp();
    WakeUp(const WakeUp&) = delete;
    WakeUp& operator=(const WakeUp&) = delete;
    void wake();

private:
    friend class ChildProcess;
    friend void waitForWakeUp(WakeUp&, std::chrono::milliseconds);
    void drain();
    int m_read = -1;
    int m_write = -1;
};

/// Blocks until woken or until the time is over.
void waitForWakeUp(WakeUp& wakeUp, std::chrono::milliseconds timeout);

/// Started without a shell, in a process group of its own (Ctrl+C in the terminal reaches us alone), with no
/// descriptor of ours beyond its three pipes, in our working folder, or in / where that is gone. Destruction kills the whole group and reaps the child.
class ChildProcess {
public:
    /// argv[0] is searched in PATH. Errors: environment, naming the program.
    static Result<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& argv);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Queues bytes for the child's standard input; they are written during wait().
    void write(std::string_view bytes);
    /// Once everything queued is written; a child that reads to the end sees it.
    void closeInput();

    struct Output {
        std::string out;   ///< at most kReadLimit bytes a call, so that a flood cannot starve the caller
        std::string err;
        bool outClosed = false;
        bool errClosed = false;
    };
    static constexpr std::size_t kReadLimit = std::size_t{1} << 20;

    /// Waits until the child says something, an end closes, the caller is woken, or the time is over.
    Output wait(WakeUp& wakeUp, std::chrono::milliseconds timeout);
    /// The same for a caller that nobody wakes: it needs no descriptor, of which there may be no more.
    Output wait(std::chrono::milliseconds timeout);

    /// The end, once it has ended.
    std::optional<ProcessEnd> end();
    /// Waits for the end that long.
    std::optional<ProcessEnd> waitForEnd(std::chrono::milliseconds timeout);
    /// Kills the group (SIGKILL) and reaps the child.
    ProcessEnd kill();

    [[nodiscard]] std::int64_t pid() const { return m_pid; }

private:
    ChildProcess() = default;
    void flush();
    Output wait(WakeUp* wakeUp, std::chrono::milliseconds timeout);

    std::int64_t m_pid = -1;
    int m_in = -1, m_out = -1, m_err = -1;
    bool m_closeInput = false;
    std::string m_pending;
    std::size_t m_written = 0;  ///< of m_pending
    std::optional<ProcessEnd> m_end;
};

/// This program's own file; empty where the system does not say.
std::filesystem::path executablePath();
/// True for a file that may be started.
bool isExecutable(const std::filesystem::path& file);

/// Names this process so that another one can say later whether it still runs: pid, start time, boot, host.
std::string processIdentity();
/// False when the process that this identity names is gone for certain.
bool mayStillRun(const std::string& identity);

/// The calling thread no longer receives signals; they go to the others.
void blockSignalsInThisThread();

}  // namespace kernelscope
