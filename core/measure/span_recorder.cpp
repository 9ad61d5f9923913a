#include "core/measure/span_recorder.h"

namespace kernelscope {
namespace {

// An operation that launches one kernel takes the host 3 us at the least, freeing a tensor between two modules 0.3 to 1. Below this the host
// enqueued nothing between two borders, and one instant serves both.
constexpr std::chrono::nanoseconds kNothingEnqueued{2'000};
// A preempted or slow host takes longer than that for nothing now and then, hardly ever in the same place of so many passes.
constexpr int kPassesToLearnFrom = 8;

}  // namespace

std::string_view toString(ProfileLevel level) {
    switch (level) {
        case ProfileLevel::type: return "type";
        case ProfileLevel::block: return "block";
        case ProfileLevel::leaf: return "leaf";
        case ProfileLevel::kernel: return "kernel";
        case ProfileLevel::op: return "op";
    }
    return "";
}

std::optional<ProfileLevel> profileLevelFromString(std::string_view text) {
    for (ProfileLevel level : {ProfileLevel::type, ProfileLevel::block, ProfileLevel::leaf, ProfileLevel::kernel, ProfileLevel::op}) {
        if (toString(level) == text) return level;
    }
    return std::nullopt;
}

bool isTimedAt(ProfileLevel level, const ModuleInfo& module) {
    switch (level) {
        case ProfileLevel::type: return module.typeRoot;
        case ProfileLevel::block: return module.depth == 1;
        case ProfileLevel::leaf:
        case ProfileLevel::kernel: return module.type != ModuleType::none;
        case ProfileLevel::op: return module.isOperator;
    }
    return false;
}

SpanRecorder::SpanRecorder(const std::vector<ModuleInfo>& modules, ProfileLevel level, BorderClock& clock, bool shareBorders, HostNow hostNow, int turns)
    : m_clock(clock), m_shareBorders(shareBorders), m_hostNow(hostNow) {
    const auto add = [&](auto&& has) {
        Chosen& made = m_choices.emplace_back(Chosen{{}, {}, kPassesToLearnFrom});
        for (const ModuleInfo& module : modules) made.timed.push_back(isTimedAt(level, module) && has(module));
    };
    add([](const ModuleInfo&) { return true; });
    for (int turn = 0; turn < turns; ++turn) add([&](const ModuleInfo& module) { return module.layer < 0 || module.layer % turns == turn; });
}

/// Learns it from the first passes, in which each border looks at the host's clock; afterwards it is known.
bool SpanRecorder::nothingEnqueuedBefore(int key) {
    std::vector<Place>& places = chosen().places;
    const std::size_t place = m_place++;
    if (place == places.size()) places.push_back({key, false});
    if (places[place].key != key) {  // another pass than before: what was learnt is of no use from here on
        places.resize(place);
        places.push_back({key, false});
        chosen().passesToLearnFrom = kPassesToLearnFrom;
        if (!m_learning) return false;
    }
    if (m_learning && m_hostNow() - m_lastMarkAt < kNothingEnqueued) places[place].nothingEnqueued = true;
    return places[place].nothingEnqueued;
}

int SpanRecorder::ownBorder() {
    m_lastMark = m_clock.mark();
    if (m_learning) m_lastMarkAt = m_hostNow();
    return m_lastMark;
}

int SpanRecorder::border(int key) { return m_shareBorders && nothingEnqueuedBefore(key) ? m_lastMark : ownBorder(); }

void SpanRecorder::beginPass(bool hostTimes) {
    m_clock.reset();
    m_visits.clear();
    m_current = -1;
    m_place = 0;
    m_hostTimes = hostTimes;
    m_learning = m_shareBorders && chosen().passesToLearnFrom > 0;
    if (m_learning) --chosen().passesToLearnFrom;
    ownBorder();
    if (m_hostTimes) m_began = m_hostNow();
}

void SpanRecorder::endPass() { m_endMark = border(kEnd); }

void SpanRecorder::enter(const ModuleInfo& module) {
    if (!chosen().timed[static_cast<std::size_t>(module.index)]) return;
    const int mark = border(2 * module.index);
    m_visits.push_back({module.index, m_current, mark, -1, m_hostTimes ? m_hostNow() : HostClock::time_point(), {}});
    m_current = static_cast<int>(m_visits.size()) - 1;
}

void SpanRecorder::leave(const ModuleInfo& module) {
    if (!chosen().timed[static_cast<std::size_t>(module.index)] || m_current < 0) return;
    Open& visit = m_visits[static_cast<std::size_t>(m_current)];
    if (m_hostTimes) visit.hostEnd = m_hostNow();
    visit.endMark = border(2 * module.index + 1);
    m_current = visit.parent;
}

PassSpans SpanRecorder::read() const {
    const auto sinceBegan = [this](HostClock::time_point at) { return m_hostTimes ? std::chrono::duration<double, std::micro>(at - m_began).count() : 0.0; };
    PassSpans pass;
    pass.totalUs = m_clock.betweenUs(0, m_endMark);
    pass.visits.reserve(m_visits.size());
    for (const Open& open : m_visits) {
        const double span = m_clock.betweenUs(open.beginMark, open.endMark);
        const int borders = open.endMark - open.beginMark;
        pass.visits.push_back({open.module, m_clock.betweenUs(0, open.beginMark), span, span, sinceBegan(open.hostBegin), sinceBegan(open.hostEnd), borders, borders});
        if (open.parent < 0) continue;
        Visit& parent = pass.visits[static_cast<std::size_t>(open.parent)];  // parents come first
        parent.selfUs -= span;
        parent.selfBorders -= borders;
    }
    return pass;
}

}  // namespace kernelscope
