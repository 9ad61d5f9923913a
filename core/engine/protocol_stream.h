#pragma once
// The engine's two ends of the protocol. One implementation a platform (protocol_stream_posix.cpp).

#include <mutex>
#include <optional>
#include <string>

namespace kernelscope {

class ProtocolStream {
public:
    /// Takes a private copy of standard output for the protocol and points standard output itself at standard error:
    /// device printf and libraries write there. Call before anything else runs.
    ProtocolStream();
    ~ProtocolStream();
    ProtocolStream(const ProtocolStream&) = delete;
    ProtocolStream& operator=(const ProtocolStream&) = delete;

    /// The next line without its newline; nullopt at the end of standard input. A line longer than `kLongestLine` is
    /// skipped to its end and returned empty.
    std::optional<std::string> readLine();

    /// Writes a whole line (newline included) at once; any thread. Leaves the process when the reader has gone.
    void writeLine(const std::string& line);

    static constexpr std::size_t kLongestLine = 64U << 20;

private:
    int m_out = -1;
    std::string m_buffer;
    std::size_t m_at = 0;
    std::mutex m_writing;
};

/// Ends the process at once, without destructors: a job may be deep in a kernel.
[[noreturn]] void leaveNow(int status);

}  // namespace kernelscope
