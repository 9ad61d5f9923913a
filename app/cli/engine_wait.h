#pragma once
// How commands start an engine: how long it may take to say hello, and a word to the user when that takes a while.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/cli/command.h"

namespace kernelscope::cli {

/// The session's options for this command: its engine, and the time until hello. Errors: no such engine.
Result<SessionOptions> sessionOptions(const CommonOptions& common);

/// Says after two seconds that the engine has not said hello yet, unless over() came before.
class EngineWait {
public:
    EngineWait(const CommonOptions& common, const SessionOptions& options);
    ~EngineWait();
    EngineWait(const EngineWait&) = delete;
    EngineWait& operator=(const EngineWait&) = delete;
    void over();

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_over = false;
    std::thread m_thread;  // last: it uses all of the above
};

}  // namespace kernelscope::cli
