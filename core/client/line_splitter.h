#pragma once
// Bytes from a pipe, cut into lines, with a bound on what an endless line may cost.

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelscope {

class LineSplitter {
public:
    explicit LineSplitter(std::size_t longestLine) : m_longest(longestLine) {}

    /// Calls `line(text)` for every line that is complete now, without its newline. Of a line that is too long the
    /// first bytes are dropped once the bound is passed, and `overlong()` says so from then on.
    template <typename Line>
    void feed(std::string_view bytes, Line line) {
        for (;;) {
            const auto newline = bytes.find('\n');
            const auto part = bytes.substr(0, newline);
            if (!m_dropping && m_buffer.size() + part.size() > m_longest) {
                m_dropping = m_overlong = true;
                m_buffer.clear();
                m_buffer.shrink_to_fit();
            }
            if (newline == std::string_view::npos) {
                if (!m_dropping) m_buffer += part;
                return;
            }
            if (m_dropping) {
                m_dropping = false;
            } else if (m_buffer.empty()) {
                line(part);
            } else {
                m_buffer += part;
                std::string whole;
                whole.swap(m_buffer);  // `line` may feed us again or destroy what it likes
                line(std::string_view(whole));
            }
            bytes.remove_prefix(newline + 1);
        }
    }

    /// What came after the last newline.
    [[nodiscard]] const std::string& rest() const { return m_buffer; }
    [[nodiscard]] bool overlong() const { return m_overlong; }

private:
    std::size_t m_longest;
    std::string m_buffer;
    bool m_dropping = false;
    bool m_overlong = false;
};

}  // namespace kernelscope
