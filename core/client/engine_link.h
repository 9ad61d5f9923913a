#pragma once
// One engine process and the lines that go to and fro. Used from one thread; knows nothing of jobs or runs.

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/client/line_splitter.h"
#include "core/client/process.h"
#include "core/client/session.h"

namespace kernelscope {

class EngineLink {
public:
    using Clock = std::chrono::steady_clock;

    struct Events {
        std::function<void(const std::string& method, const nlohmann::json& params)> notification;
        std::function<void(const std::string& line)> log;
    };
    using Answer = std::function<void(Result<nlohmann::json>)>;

    /// A line longer than this is no message of ours but a flood.
    static constexpr std::size_t kLongestLine = std::size_t{64} << 20;
    /// So much before hello is no banner.
    static constexpr std::size_t kLongestBanner = std::size_t{16} << 20;
    /// Lines that are no messages, after hello: a stray print is forgiven, a stream of them is not.
    static constexpr int kGarbageLimit = 1000;

    /// Starts the process and says hello. `hello` is called once, with the engine's answer or with why there is none.
    static Result<std::unique_ptr<EngineLink>> start(const EngineCommand& command, std::chrono::milliseconds helloDeadline,
                                                     Events events, std::function<void(Result<Hello>)> hello);

    /// Waits for news and deals with it. False once the engine is gone or was given up; `whyLost` then says why.
    bool pump(WakeUp& wakeUp, std::chrono::milliseconds timeout);

    void request(const std::string& method, const nlohmann::json& params, Answer answer);
    /// Kills the engine, for the reason given.
    void giveUp(Error why);
    /// Closes its input, at which it leaves; kills it when it does not within the grace.
    void stop(std::chrono::milliseconds grace);
    /// Every request that is still open gets this error.
    void failRequests(const Error& why);

    [[nodiscard]] bool ready() const { return m_ready; }
    [[nodiscard]] const Error& whyLost() const { return m_whyLost; }
    /// How its process died, "signal 11, SIGSEGV": empty while it lives, where we ended it, where the system did for want of memory, and where the way
    /// to it broke.
    [[nodiscard]] const std::string& diedOf() const { return m_diedOf; }
    /// The way to the engine ended, not the engine: ssh's own failures have an exit code that no engine has.
    [[nodiscard]] bool cut() const { return m_cut; }
    [[nodiscard]] bool waitsForAnswers() const { return !m_answers.empty(); }
    [[nodiscard]] Clock::time_point lastHeard() const { return m_lastHeard; }

private:
    EngineLink() : m_outLines(kLongestLine), m_errLines(std::size_t{64} << 10) {}
    void onLine(std::string_view line);
    void onBanner(std::string_view line);
    void onGarbage(std::string_view line);
    void onErrorBytes(std::string_view bytes);
    void onHello(Result<nlohmann::json> answer);
    void lost();
    void tell(const std::string& line);

    std::unique_ptr<ChildProcess> m_child;
    Events m_events;
    std::function<void(Result<Hello>)> m_hello;
    LineSplitter m_outLines, m_errLines;
    std::map<std::int64_t, Answer> m_answers;
    std::int64_t m_nextId = 1;
    bool m_ready = false;
    bool m_cut = false;
    std::optional<Error> m_givenUp;
    Error m_whyLost;
    std::string m_diedOf;
    std::deque<std::string> m_lastWords;  ///< the end of its stderr
    std::size_t m_bannerBytes = 0;
    int m_garbage = 0;
    Clock::time_point m_helloBy, m_lastHeard;
};

}  // namespace kernelscope
