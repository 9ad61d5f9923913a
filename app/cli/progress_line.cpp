#include "app/cli/progress_line.h"

#include <atomic>
#include <cstdio>

#include <fmt/core.h>

#include "app/cli/terminal.h"
#include "core/records/format.h"
#include "core/records/plain_table.h"

namespace kernelscope::cli {

namespace {
/// There is one terminal, and messages come from wherever something went wrong.
std::atomic<bool> g_lineStands{false};
}  // namespace

std::string progressText(const Progress& progress) {
    std::string text = progress.phase.empty() ? "Working" : progress.phase;
    if (progress.total > 0) text += fmt::format(" {}/{}", progress.done, progress.total);
    if (progress.secondsLeft && *progress.secondsLeft >= 0.5) text += fmt::format(", {} left", formatDuration(*progress.secondsLeft));
    return text;
}

void ProgressLine::clear() {
    if (g_lineStands.exchange(false)) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const Progress& progress) {
    if (m_style == Style::none) return;
    const auto now = std::chrono::steady_clock::now();
    const bool newPhase = progress.phase != m_phase;
    // Ten a second is as fast as anybody reads, and one a second is enough for a log.
    const auto pause = m_style == Style::terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000);
    if (!newPhase && now - m_when < pause) return;
    std::string text = terminalMessage(progressText(progress));
    if (text == m_last) return;
    m_phase = progress.phase;
    m_last = text;
    m_when = now;
    if (m_style == Style::log) {
        std::fputs((text + "\n").c_str(), stderr);
        return;
    }
    const auto width = static_cast<std::size_t>(terminalWidth());
    while (!text.empty() && displayWidth(text) >= width) {
        while ((static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
        text.pop_back();
    }
    std::fputs(("\r\x1b[K" + text).c_str(), stderr);
    g_lineStands = true;
}

}  // namespace kernelscope::cli
