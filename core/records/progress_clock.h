#pragma once
// When to report progress and how long is left, from the pace so far.

#include <chrono>
#include <cstdint>
#include <optional>

namespace kernelscope {

class ProgressClock {
public:
    /// At most ten reports a second reach people; `always` for the last one.
    bool due(bool always = false) {
        const auto now = Clock::now();
        if (!always && m_reported && now - *m_reported < std::chrono::milliseconds(100)) return false;
        m_reported = now;
        return true;
    }

    /// Nothing until a twentieth of a second has passed and something is done: earlier guesses jump about.
    [[nodiscard]] std::optional<double> secondsLeft(std::int64_t done, std::int64_t total) const {
        const double elapsed = std::chrono::duration<double>(Clock::now() - m_began).count();
        if (done <= 0 || total <= done || elapsed < 0.05) return std::nullopt;
        return elapsed / static_cast<double>(done) * static_cast<double>(total - done);
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point m_began = Clock::now();
    std::optional<Clock::time_point> m_reported;
};

}  // namespace kernelscope
