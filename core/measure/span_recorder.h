#pragma once
// The profiler's hook: an instant at each border of the modules of one level, read after the pass.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "core/device/border_clock.h"
#include "core/model/hooks.h"

namespace kernelscope {

/// `op` times the replaceable operators, where a pass runs them under hooks (operator_modules.h); the others time modules.
enum class ProfileLevel { type, block, leaf, kernel, op };
std::string_view toString(ProfileLevel level);
std::optional<ProfileLevel> profileLevelFromString(std::string_view text);

/// Whether spans of this level have borders at this module.
bool isTimedAt(ProfileLevel level, const ModuleInfo& module);

/// One visit of a timed module.
struct Visit {
    int module = 0;       ///< index in the model's modules()
    double beginUs = 0;   ///< since the pass began
    double spanUs = 0;    ///< inclusive
    double selfUs = 0;    ///< less the timed modules inside
    double hostBeginUs = 0, hostEndUs = 0;  ///< when the host enqueued it, since the pass began on the host
};

struct PassSpans {
    double totalUs = 0;
    std::vector<Visit> visits;  ///< in order of entry
};

class SpanRecorder final : public ModuleHook {
public:
    /// `shareBorders`: on a queue each instant costs time, so a border where the host did nothing since the last one is
    /// the last one. On a CPU an instant is cheap and every border is its own.
    SpanRecorder(const std::vector<ModuleInfo>& modules, ProfileLevel level, BorderClock& clock, bool shareBorders);

    void beginPass();
    void endPass();
    /// Precondition: clock.wait() after endPass().
    [[nodiscard]] PassSpans read() const;

    void enter(const ModuleInfo& module) override;
    void leave(const ModuleInfo& module) override;

private:
    using Clock = std::chrono::steady_clock;
    struct Open { int module; int parent; int beginMark; int endMark; Clock::time_point hostBegin, hostEnd; };
    int border();

    BorderClock& m_clock;
    bool m_shareBorders;
    std::vector<bool> m_timed;
    std::vector<Open> m_visits;
    int m_current = -1;
    int m_lastMark = -1;
    int m_endMark = -1;
    Clock::time_point m_lastMarkAt;
    Clock::time_point m_began;
};

}  // namespace kernelscope
