#include "core/measure/span_recorder.h"

namespace kernelscope {
namespace {

// The cheapest launch takes the host about 2.5 us; two hooks in a row take a tenth of one. Below this the host
// enqueued nothing between two borders, and one instant serves both. A preempted host only costs an extra instant.
constexpr std::chrono::nanoseconds kNothingEnqueued{1'500};

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

SpanRecorder::SpanRecorder(const std::vector<ModuleInfo>& modules, ProfileLevel level, BorderClock& clock, bool shareBorders)
    : m_clock(clock), m_shareBorders(shareBorders) {
    m_timed.reserve(modules.size());
    for (const ModuleInfo& module : modules) m_timed.push_back(isTimedAt(level, module));
}

int SpanRecorder::border() {
    if (m_shareBorders && Clock::now() - m_lastMarkAt < kNothingEnqueued) return m_lastMark;
    m_lastMark = m_clock.mark();
    m_lastMarkAt = Clock::now();
    return m_lastMark;
}

void SpanRecorder::beginPass() {
    m_clock.reset();
    m_visits.clear();
    m_current = -1;
    m_lastMark = m_clock.mark();
    m_lastMarkAt = Clock::now();
    m_began = m_lastMarkAt;
}

void SpanRecorder::endPass() { m_endMark = border(); }

void SpanRecorder::enter(const ModuleInfo& module) {
    if (!m_timed[static_cast<std::size_t>(module.index)]) return;
    const int mark = border();
    m_visits.push_back({module.index, m_current, mark, -1, Clock::now(), {}});
    m_current = static_cast<int>(m_visits.size()) - 1;
}

void SpanRecorder::leave(const ModuleInfo& module) {
    if (!m_timed[static_cast<std::size_t>(module.index)] || m_current < 0) return;
    Open& visit = m_visits[static_cast<std::size_t>(m_current)];
    visit.hostEnd = Clock::now();
    visit.endMark = border();
    m_current = visit.parent;
}

PassSpans SpanRecorder::read() const {
    const auto sinceBegan = [this](Clock::time_point at) { return std::chrono::duration<double, std::micro>(at - m_began).count(); };
    PassSpans pass;
    pass.totalUs = m_clock.betweenUs(0, m_endMark);
    pass.visits.reserve(m_visits.size());
    for (const Open& open : m_visits) {
        const double span = m_clock.betweenUs(open.beginMark, open.endMark);
        pass.visits.push_back({open.module, m_clock.betweenUs(0, open.beginMark), span, span, sinceBegan(open.hostBegin), sinceBegan(open.hostEnd)});
        if (open.parent >= 0) pass.visits[static_cast<std::size_t>(open.parent)].selfUs -= span;  // parents come first
    }
    return pass;
}

}  // namespace kernelscope
