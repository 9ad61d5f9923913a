#include "app/cli/terminal.h"

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
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction now {};  // a signal that is blocked is queued even where it would be ignored
        if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) ::sigaddset(&state.signals, signal);
    }
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
