#include "core/engine/protocol_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace kernelscope {
namespace {
constexpr int kCannotAnswer = 4;

/// Until PIPE_BUF bytes can be written without waiting. A reader may stop reading and never close, as what carries the pipe does when
/// its own connection has died: once our input is closed too nobody will read on, and an engine that waits for it would keep its GPU for ever.
void waitForRoom(int out) {
    constexpr int kForever = -1, kLastChanceMs = 2000;
    pollfd ends[] = {{out, POLLOUT, 0}, {STDIN_FILENO, POLLRDHUP, 0}};
    if (poll(ends, 1, 0) > 0) return;
    for (;;) {
        const int news = poll(ends, 2, kForever);
        if (news < 0 && errno != EINTR) return;  // the write says what is wrong
        if (news <= 0) continue;
        if (ends[0].revents) return;
        if (poll(ends, 1, kLastChanceMs) == 0) leaveNow(0);
        return;
    }
}

}  // namespace

ProtocolStream::ProtocolStream() {
    m_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

ProtocolStream::~ProtocolStream() { close(m_out); }

std::optional<std::string> ProtocolStream::readLine() {
    bool tooLong = false;
    std::size_t scanned = 0;
    while (true) {
        const auto newline = m_buffer.find('\n', m_at + scanned);
        if (newline != std::string::npos) {
            std::string line = tooLong ? std::string() : m_buffer.substr(m_at, newline - m_at);
            m_at = newline + 1;
            return line;
        }
        m_buffer.erase(0, m_at);
        m_at = 0;
        scanned = m_buffer.size();
        if (scanned > kLongestLine) {
            tooLong = true;
            m_buffer.clear();
            scanned = 0;
        }
        std::array<char, 65536> chunk{};
        const ssize_t count = read(STDIN_FILENO, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        m_buffer.append(chunk.data(), static_cast<std::size_t>(count));
    }
}

void ProtocolStream::writeLine(const std::string& line) {
    const std::lock_guard lock(m_writing);
    std::size_t written = 0;
    while (written < line.size()) {
        waitForRoom(m_out);
        const ssize_t count = write(m_out, line.data() + written, std::min<std::size_t>(line.size() - written, PIPE_BUF));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EPIPE) leaveNow(0);  // nobody listens any more
        if (count <= 0) {
            // A kernel of somebody's own may have closed it: these words are the last that the client has.
            std::fprintf(stderr, "the engine cannot write its answers: %s\n", std::strerror(errno));
            leaveNow(kCannotAnswer);
        }
        written += static_cast<std::size_t>(count);
    }
}

void leaveNow(int status) { _exit(status); }

}  // namespace kernelscope
