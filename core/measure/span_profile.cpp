#include "core/measure/span_profile.h"

#include <algorithm>
#include <utility>

#include "core/measure/span_round.h"

namespace kernelscope {
namespace {

/// Puts a hook in force for as long as it lives.
class HookInForce {
public:
    HookInForce(Hooks& hooks, ModuleHook& hook) : m_hooks(hooks), m_hook(hook) { m_hooks.add(&m_hook); }
    ~HookInForce() { m_hooks.remove(&m_hook); }
    HookInForce(const HookInForce&) = delete;
    HookInForce& operator=(const HookInForce&) = delete;

private:
    Hooks& m_hooks;
    ModuleHook& m_hook;
};

double plainPassUs(const Pass& pass, BorderClock& clock) {
    clock.reset();
    const int begin = clock.mark();
    pass();
    const int end = clock.mark();
    clock.wait();
    return clock.betweenUs(begin, end);
}

/// What a clock makes for a mark, it makes in here: inside a pass that costs more than the mark. Enough for one pass with borders in all layers.
void fillPool(BorderClock& clock, const std::vector<ModuleInfo>& modules, ProfileLevel level) {
    const auto timed = std::count_if(modules.begin(), modules.end(), [level](const ModuleInfo& module) { return isTimedAt(level, module); });
    clock.reset();
    for (auto mark = 2 * timed + 2; mark > 0; --mark) clock.mark();
    clock.wait();
}

}  // namespace

SpanProfile measureSpans(const std::string& phase, const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, BorderClock& clock, bool onQueue,
                         const SpanProfileOptions& options, const SpanProfileEvents& events, std::stop_token stop) {
    const int turns = turnsOf(modules, options.level, onQueue);
    SpanRecorder recorder(modules, options.level, clock, onQueue, SpanRecorder::HostClock::now, turns);
    SpanProfile profile{0, SpanTable(phase, options.level, modules), {}};

    const std::int64_t iterations = (options.iterations + turns - 1) / turns * turns;
    const std::int64_t total = 1 + options.warmup + 2 * iterations + 1;
    std::int64_t done = 0;
    const auto passDone = [&] {
        if (events.passDone) events.passDone(++done, total);
    };
    const auto instrumented = [&](std::optional<int> turn, bool hostTimes) {
        recorder.setTurn(turn);
        const HookInForce inForce(hooks, recorder);
        recorder.beginPass(hostTimes);
        pass();
        recorder.endPass();
        clock.wait();
        return recorder.read();
    };
    std::vector<PassSpans> round;
    const auto keep = [&] {
        round.push_back(instrumented(static_cast<int>(round.size()), false));
        if (static_cast<int>(round.size()) == turns) {
            profile.table.addInstrumented(joinRound(round, modules), round);
            round.clear();
            if (events.tableGrew) events.tableGrew(profile.table);
        }
        passDone();
    };
    const auto plain = [&] {
        profile.table.addPlain(plainPassUs(pass, clock));
        passDone();
    };

    profile.firstPassUs = plainPassUs(pass, clock);
    fillPool(clock, modules, options.level);
    passDone();
    for (std::int64_t index = 0; index < options.warmup && !stop.stop_requested(); ++index) {
        if (index % 2 == 0) (void)instrumented(static_cast<int>(index / 2 % turns), false);
        else (void)plainPassUs(pass, clock);
        passDone();
    }
    // ABBA: slow drift of the clocks falls on both alike.
    for (std::int64_t index = 0; index < iterations && !stop.stop_requested(); ++index) {
        if (index % 2 == 0) { keep(); plain(); }
        else { plain(); keep(); }
    }
    if (!stop.stop_requested()) {
        profile.lastPass = instrumented(std::nullopt, true);
        passDone();
    }
    return profile;
}

Result<SpanProfile> measureSpans(const std::string& phase, const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks,
                                 const Device& device, const SpanProfileOptions& options, const SpanProfileEvents& events, std::stop_token stop) {
    const std::unique_ptr<BorderClock> clock = makeBorderClock(device);
    SpanProfile profile = measureSpans(phase, pass, modules, hooks, *clock, device.isCuda(), options, events, std::move(stop));
    if (const Result<void> idle = synchronize(device); !idle) return idle.error();
    return profile;
}

}  // namespace kernelscope
