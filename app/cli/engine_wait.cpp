#include "app/cli/engine_wait.h"

#include <fmt/core.h>

namespace kernelscope::cli {

Result<SessionOptions> sessionOptions(const CommonOptions& common) {
    auto engine = engineCommand(common);
    if (!engine) return engine.error();
    SessionOptions options;
    options.helloDeadline = helloDeadlineFor(*engine);
    options.engine = std::move(*engine);
    options.telemetryIntervalMs = 0;
    return options;
}

EngineWait::EngineWait(const CommonOptions& common, const SessionOptions& options) {
    std::string command;
    for (const std::string& word : options.engine.argv) command += (command.empty() ? "" : " ") + word;
    const auto deadline = std::chrono::duration_cast<std::chrono::seconds>(options.helloDeadline).count();
    m_thread = std::thread([this, &common, line = fmt::format("waiting for the engine to say hello, {} s at most: {}", deadline, command)] {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait_for(lock, std::chrono::seconds(2), [this] { return m_over; })) say(common, line);
    });
}

void EngineWait::over() {
    const std::lock_guard lock(m_mutex);
    m_over = true;
    m_changed.notify_all();
}

EngineWait::~EngineWait() {
    over();
    m_thread.join();
}

}  // namespace kernelscope::cli
