#include "core/client/engine_link.h"

#include <algorithm>

#include "core/records/format.h"
#include "core/records/json_read.h"
#include "core/records/utf8.h"

namespace kernelscope {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

/// A line for a log: valid UTF-8, not endless, no carriage return at its end.
std::string forLog(std::string_view line) {
    constexpr std::size_t kLongest = 4096;
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const bool cut = line.size() > kLongest;
    return validUtf8(line.substr(0, kLongest)) + (cut ? " ..." : "");
}

constexpr int kKilled = 9, kBusError = 7;

/// What it helps to know about an end; for a signal, what usually lies behind it.
std::string hintFor(const ProcessEnd& end) {
    if (end.signal == kKilled) return "; the system kills a process like this when memory runs out";
    if (end.signal == kBusError) return "; often a file that it was reading became shorter, or the disk below it failed";
    return {};
}

/// "signal 11, SIGSEGV": to stand in brackets itself.
std::string withoutBrackets(std::string words) {
    if (const auto open = words.find(" ("); open != std::string::npos && words.ends_with(')')) {
        words.pop_back();
        words.replace(open, 2, ", ");
    }
    return words;
}

/// For what no engine of ours does.
constexpr const char* kOtherVersion = "install the same version of Kernelscope on both sides; what it runs must not print to the protocol's stream";

/// What ssh says with its exit code when the connection failed or broke; what runs on the other side keeps away from it.
bool cutTheWay(const ProcessEnd& end) {
    constexpr int kSshFailed = 255;
    return end.signal == 0 && end.exitCode == kSshFailed;
}

std::string adviceFor(const std::optional<ProcessEnd>& end) {
    if (end && end->signal == kBusError) return "see that nothing writes to the model's files meanwhile and that they are whole; what was measured until then is kept";
    if (end && end->signal == kKilled) return "take a smaller model, batch or prompt, or close what else uses the memory; what was measured until then is kept";
    return "what was measured until then is kept; start it again, and run `doctor` if it dies again";
}

}  // namespace

Result<std::unique_ptr<EngineLink>> EngineLink::start(const EngineCommand& command, milliseconds helloDeadline, Events events,
                                                      std::function<void(Result<Hello>)> hello) {
    auto child = ChildProcess::start(command.argv);
    if (!child) {
        Error error = child.error();
        error.message = "the engine does not start: " + error.message;
        if (error.advice.empty()) error.advice = "check the command that starts it (--engine, KERNELSCOPE_ENGINE)";
        return error;
    }
    std::unique_ptr<EngineLink> link(new EngineLink);
    link->m_child = std::move(*child);
    link->m_events = std::move(events);
    link->m_hello = std::move(hello);
    link->m_lastHeard = Clock::now();
    link->m_helloBy = Clock::now() + helloDeadline;
    EngineLink* self = link.get();
    link->request("engine.hello", {{"protocol", kProtocolVersion}}, [self](Result<json> answer) { self->onHello(std::move(answer)); });
    return link;
}

void EngineLink::request(const std::string& method, const json& params, Answer answer) {
    const std::int64_t id = m_nextId++;
    const std::string line = requestLine(id, method, params);
    if (line.size() > kLongestLine)  // the engine would pass over it, and nobody would ever hear
        return answer(makeError(ErrorCode::badInput, "what is asked of the engine takes " + formatBytes(line.size()) + ", more than the " + formatBytes(kLongestLine) + " that it reads at once",
                                "ask for less: a shorter text, fewer shapes"));
    m_answers.emplace(id, std::move(answer));
    m_child->write(line);
}

void EngineLink::giveUp(Error why) {
    if (!m_givenUp) m_givenUp = std::move(why);
    m_child->kill();
}

void EngineLink::stop(milliseconds grace) {
    m_child->closeInput();
    const auto until = Clock::now() + grace;
    while (!m_child->end() && Clock::now() < until) {
        const auto output = m_child->wait(milliseconds(10));  // a full pipe must not keep it from leaving
        if (output.outClosed && output.errClosed) m_child->waitForEnd(std::chrono::duration_cast<milliseconds>(until - Clock::now()));
    }
    m_child->kill();
}

void EngineLink::failRequests(const Error& why) {
    auto open = std::move(m_answers);
    m_answers.clear();
    for (auto& [id, answer] : open) answer(why);
}

bool EngineLink::pump(WakeUp& wakeUp, milliseconds timeout) {
    if (!m_ready) timeout = std::min(timeout, std::chrono::duration_cast<milliseconds>(m_helloBy - Clock::now()) + milliseconds(1));
    const auto output = m_child->wait(wakeUp, std::max(timeout, milliseconds(0)));
    onErrorBytes(output.err);
    m_outLines.feed(output.out, [this](std::string_view line) {
        if (!m_givenUp) onLine(line);
    });
    if (m_outLines.overlong() && !m_givenUp)
        giveUp(makeError(ErrorCode::environment, "the engine sent a line of more than " + formatBytes(kLongestLine) + " and was stopped", kOtherVersion));
    if (!m_ready && !m_givenUp) {
        if (m_outLines.rest().size() + m_bannerBytes > kLongestBanner)
            giveUp(makeError(ErrorCode::environment, "what was started is no engine: it sent " + formatBytes(kLongestBanner) + " without a hello",
                             "check the command that starts it (--engine, KERNELSCOPE_ENGINE)"));
        else if (Clock::now() >= m_helloBy)
            giveUp(makeError(ErrorCode::environment, "the engine was started but did not say hello in time",
                             "check the command that starts it (--engine, KERNELSCOPE_ENGINE); it may wait for a password"));
    }
    if (m_givenUp || output.outClosed || m_child->end()) {
        // The last of what it said, in the order in which pipes and death reach us.
        for (int i = 0; i < 64 && !m_givenUp; ++i) {
            const auto more = m_child->wait(wakeUp, milliseconds(0));
            onErrorBytes(more.err);
            if (more.out.empty() && more.err.empty()) break;
            m_outLines.feed(more.out, [this](std::string_view line) { if (!m_givenUp) onLine(line); });
        }
        lost();
        return false;
    }
    return true;
}

void EngineLink::lost() {
    if (m_givenUp) {
        m_child->kill();
        m_whyLost = *m_givenUp;
        return;
    }
    // A process that dies closes its pipes first; one that only closed them is no use either.
    constexpr auto kDying = milliseconds(2000);
    const auto end = m_child->waitForEnd(kDying);
    const auto rest = m_child->wait(milliseconds(0));
    onErrorBytes(rest.err);
    if (!m_errLines.rest().empty()) onErrorBytes("\n");
    std::string message;
    if (!end) {
        m_child->kill();
        message = "the engine closed its output and was stopped";
    } else if (!m_ready) {
        m_cut = cutTheWay(*end);
        message = "the engine ended before it said hello (" + end->words() + ")";
    } else if (cutTheWay(*end)) {
        m_cut = true;
        message = "the connection to the engine was lost: " + end->words();
    } else {
        message = "the engine died: " + end->words() + hintFor(*end);
        m_diedOf = end->signal != kKilled ? withoutBrackets(end->words()) : std::string();  // memory that ran out is no kernel's fault
    }
    if (!m_lastWords.empty()) {
        message += "; its last words: ";
        for (std::size_t i = 0; i < m_lastWords.size(); ++i) message += (i ? " / " : "") + m_lastWords[i];
    }
    m_whyLost = makeError(ErrorCode::environment, message, m_ready ? adviceFor(end) : "check the command that starts it (--engine, KERNELSCOPE_ENGINE)");
}

void EngineLink::onErrorBytes(std::string_view bytes) {
    if (bytes.empty()) return;
    constexpr int kLinesAtOnce = 200;  // a flood must not fill the log, nor the window that shows it
    constexpr std::size_t kLastWords = 3;
    int shown = 0;
    std::int64_t hidden = 0;
    m_errLines.feed(bytes, [&](std::string_view line) {
        std::string text = forLog(line);
        if (text.find_first_not_of(" \t") != std::string::npos) {
            m_lastWords.push_back(text.substr(0, 300));
            if (m_lastWords.size() > kLastWords) m_lastWords.pop_front();
        }
        if (shown++ < kLinesAtOnce) tell(text);
        else ++hidden;
    });
    if (hidden) tell("(" + std::to_string(hidden) + " more lines)");
}

void EngineLink::tell(const std::string& line) {
    if (m_events.log) m_events.log(line);
}

void EngineLink::onBanner(std::string_view line) {
    m_bannerBytes += line.size() + 1;
    tell(forLog(line));
}

void EngineLink::onGarbage(std::string_view line) {
    constexpr int kShown = 20;
    ++m_garbage;
    if (m_garbage <= kShown) tell("not understood: " + forLog(line.substr(0, 200)));
    if (m_garbage == kGarbageLimit)
        giveUp(makeError(ErrorCode::environment, "the engine sent " + std::to_string(kGarbageLimit) + " lines that are no messages and was stopped",
                         kOtherVersion));
}

void EngineLink::onLine(std::string_view line) {
    auto message = parseLine(line);
    if (!m_ready) {
        // Only the answer to hello ends the banner: a shell's greeting may be anything, JSON included.
        const auto answers = [](const Result<RpcMessage>& read) { return read && read->method.empty() && read->id == 1; };
        // A greeting need not end its line, as one that sets a terminal's title does not.
        constexpr int kTries = 16;
        std::size_t begin = 0;
        for (int i = 0; i < kTries && !answers(message); ++i) {
            begin = line.find("{\"", begin + 1);
            if (begin == std::string_view::npos) return onBanner(line);
            message = parseLine(line.substr(begin));
        }
        if (!answers(message)) return onBanner(line);
        if (begin > 0) onBanner(line.substr(0, begin));
    } else if (!message) {
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) onGarbage(line);
        return;
    }
    m_lastHeard = Clock::now();
    if (!message->method.empty()) {
        if (message->id.is_null() && m_events.notification) m_events.notification(message->method, message->params);
        return;
    }
    const auto id = integerOf(message->id);
    const auto found = id ? m_answers.find(*id) : m_answers.end();
    if (found == m_answers.end()) return onGarbage(line);
    const Answer answer = std::move(found->second);
    m_answers.erase(found);
    if (message->error) answer(*message->error);
    else answer(std::move(*message->result));
}

void EngineLink::onHello(Result<json> answer) {
    auto hello = answer ? helloFromJson(*answer) : Result<Hello>(answer.error());
    if (hello && hello->protocol != kProtocolVersion)
        hello = makeError(ErrorCode::environment,
                          "the engine speaks protocol " + std::to_string(hello->protocol) + ", this program " + std::to_string(kProtocolVersion) +
                              (hello->version.empty() ? "" : " (the engine is version " + hello->version + ")"),
                          "install the same version of Kernelscope on both sides");
    if (hello) {
        m_ready = true;
    } else if (!m_givenUp) {
        Error why = hello.error();
        why.code = ErrorCode::environment;
        if (why.advice.empty()) why.advice = "check that the command starts an engine of Kernelscope (--engine, KERNELSCOPE_ENGINE), of the same version as this program";
        giveUp(std::move(why));
        return;  // the owner hears of it as of any loss
    }
    if (m_hello) m_hello(std::move(hello));
}

}  // namespace kernelscope
