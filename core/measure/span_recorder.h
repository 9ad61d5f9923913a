#pragma once
// The profiler's hook: an instant at each border of the modules of one level, read after the pass.

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
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
    double hostBeginUs = 0, hostEndUs = 0;  ///< when the host enqueued it, since the pass began on the host; 0 in a pass without host times
    int borders = 0;      ///< intervals between one mark and the next in spanUs
    int selfBorders = 0;  ///< the same in selfUs
};

struct PassSpans {
    double totalUs = 0;
    std::vector<Visit> visits;  ///< in order of entry
};

class SpanRecorder final : public ModuleHook {
public:
    using HostClock = std::chrono::steady_clock;
    using HostNow = HostClock::time_point (*)() noexcept;

    /// `shareBorders`: on a queue each instant costs time, so a border where the host did nothing since the last one is
    /// the last one. On a CPU an instant is cheap and every border is its own.
    /// `turns`: how many turns setTurn() can choose from.
    SpanRecorder(const std::vector<ModuleInfo>& modules, ProfileLevel level, BorderClock& clock, bool shareBorders, HostNow hostNow = HostClock::now,
                 int turns = 1);

    /// Which layers the next passes have borders in: those whose number leaves the rest `turn` when divided by `turns`; without a turn, all.
    /// What stands beside the layers always has. Call it before the hook is put in force.
    void setTurn(std::optional<int> turn) { m_chosen = turn ? 1 + static_cast<std::size_t>(*turn) : 0; }

    /// `hostTimes`: whether visits say when the host enqueued them. It costs a look at the clock a border.
    void beginPass(bool hostTimes = true);
    void endPass();
    /// Ends what has been timed so far, calls `uncounted`, and begins anew behind what that enqueued. No timed module may be open.
    /// Returns the marks before and after.
    template <typename Work>
    std::pair<int, int> cut(Work&& uncounted) {
        const int before = border(kCut);
        std::forward<Work>(uncounted)();
        return {before, ownBorder()};
    }
    /// Precondition: clock.wait() after endPass().
    [[nodiscard]] PassSpans read() const;

    [[nodiscard]] int endMark() const { return m_endMark; }

    void enter(const ModuleInfo& module) override;
    void leave(const ModuleInfo& module) override;
    [[nodiscard]] const std::vector<char>* calledFor() const override { return &chosen().timed; }

private:
    struct Open { int module; int parent; int beginMark; int endMark; HostClock::time_point hostBegin, hostEnd; };
    /// A border by its place in the order of a pass: passes are alike, so what was seen once holds for all.
    struct Place { int key; bool nothingEnqueued; };
    static constexpr int kCut = -1, kEnd = -2;
    /// The layers of one turn, or all: which modules are timed, and what is known of the borders between them.
    struct Chosen {
        std::vector<char> timed;  // by module
        std::vector<Place> places;
        int passesToLearnFrom;
    };

    [[nodiscard]] const Chosen& chosen() const { return m_choices[m_chosen]; }
    [[nodiscard]] Chosen& chosen() { return m_choices[m_chosen]; }
    int border(int key);
    int ownBorder();
    bool nothingEnqueuedBefore(int key);

    BorderClock& m_clock;
    bool m_shareBorders;
    HostNow m_hostNow;
    std::vector<Chosen> m_choices;  // all layers, then by turn
    std::size_t m_chosen = 0;
    std::vector<Open> m_visits;
    std::size_t m_place = 0;
    bool m_learning = false, m_hostTimes = true;
    int m_current = -1;
    int m_lastMark = -1;
    int m_endMark = -1;
    HostClock::time_point m_lastMarkAt;
    HostClock::time_point m_began;
};

}  // namespace kernelscope
