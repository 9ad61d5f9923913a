#pragma once
// One line on standard error that says how far a job is: rewritten in place on a terminal, a line now and then in a log.

#include <chrono>
#include <string>

#include "core/records/protocol.h"

namespace kernelscope::cli {

class ProgressLine {
public:
    enum class Style { none, terminal, log };
    explicit ProgressLine(Style style) : m_style(style) {}
    ~ProgressLine() { clear(); }

    void show(const Progress& progress);
    /// Removes a line that stands on the terminal, so that something else can be written there.
    static void clear();

private:
    Style m_style;
    std::string m_last, m_phase;
    std::chrono::steady_clock::time_point m_when{};
};

/// "Decode passes 12/50, 3 s left"
std::string progressText(const Progress& progress);

}  // namespace kernelscope::cli
