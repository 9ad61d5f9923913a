#include "app/cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace kernelscope::cli {

bool outputIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool errorIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

int terminalWidth() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void ignoreBrokenPipes() { ::signal(SIGPIPE, SIG_IGN); }

void holdStandardStreams() {
    // The lowest free descriptor is what open() returns. Standard output opened for reading alone: a write to it fails.
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) == -1) [[maybe_unused]] const int held = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

struct StopSignals::State {
    std::function<void()> stop;
    std::atomic<bool> stopped{false};
    std::atomic<bool> leave{false};
    sigset_t signals{}, before{};
    std::thread thread;
};

StopSignals::StopSignals(std::function<void()> stop) : m_state(std::make_unique<State>()) {
    State& state = *m_state;
    state.stop = std::move(stop);
    ::sigemptyset(&state.signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&state.signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &state.signals, &state.before);
    state.thread = std::thread([&state] {
        while (!state.leave) {
            const timespec pause{0, 100'000'000};  // how long the end of the program may wait for this thread
            const int signal = ::sigtimedwait(&state.signals, nullptr, &pause);
            if (signal <= 0) continue;
            if (state.stopped.exchange(true)) std::_Exit(130);
            state.stop();
        }
    });
}

StopSignals::~StopSignals() {
    m_state->leave = true;
    m_state->thread.join();
    ::pthread_sigmask(SIG_SETMASK, &m_state->before, nullptr);
}

bool StopSignals::stopped() const { return m_state->stopped; }

}  // namespace kernelscope::cli
