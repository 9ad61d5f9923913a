#include "core/engine/protocol_stream.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace kernelscope {
namespace {
constexpr int kCannotAnswer = 4;
}

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
        const ssize_t count = write(m_out, line.data() + written, line.size() - written);
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
