#pragma once
// What the system knows of terminals and signals (terminal_posix.cpp), and what a terminal may be shown.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace kernelscope::cli {

bool outputIsTerminal();
bool errorIsTerminal();
/// Columns of the terminal on standard error; 80 where nobody knows.
int terminalWidth();

/// A terminal obeys control characters, so what an engine, a file or a model says is shown without any: '?' stands for
/// them. Newlines and tabs stay.
std::string terminalText(std::string_view text);
/// The same for a message: long enough for a compiler's log, not for the word of 100 KB that somebody pasted.
std::string terminalMessage(std::string_view text);

/// While it lives, Ctrl+C and a polite request to end call `stop` on a thread of its own; the second one ends the
/// program with exit code 130. What the program was started to ignore (`nohup`, a script's background job) stays ignored.
/// Make it before any other thread: threads inherit what it blocks.
class StopSignals {
public:
    explicit StopSignals(std::function<void()> stop);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    [[nodiscard]] bool stopped() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace kernelscope::cli
