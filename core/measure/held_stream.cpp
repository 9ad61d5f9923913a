#include "core/measure/held_stream.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/records/statistics.h"

namespace kernelscope {
namespace {

// A stream's passes vary more than a graph's replays, whose limit is half of this.
constexpr double kConservationLimitPct = 1.0;

/// Holds the queue anew at every few layers; what is open there is the model alone.
class HoldHook final : public ModuleHook {
public:
    HoldHook(SpanRecorder& recorder, HeldQueue& queue) : m_recorder(recorder), m_queue(queue) {}

    void enter(const ModuleInfo& module) override {
        if (module.depth != 1 || module.layer < 0 || ++m_layers <= kLayersAHold) return;
        m_layers = 1;
        const auto [end, begin] = m_recorder.cut([this] { m_queue.hold(); });  // lets the layers before go
        ends.push_back(end);
        begins.push_back(begin);
    }
    void leave(const ModuleInfo&) override {}

    std::vector<int> begins{0}, ends;  ///< marks

private:
    SpanRecorder& m_recorder;
    HeldQueue& m_queue;
    int m_layers = 0;
};

/// Takes hooks away and lets the queue go, whatever happens in between.
class Held {
public:
    Held(Hooks& hooks, std::vector<ModuleHook*> inForce, HeldQueue& queue) : m_hooks(hooks), m_inForce(std::move(inForce)), m_queue(queue) {
        m_queue.hold();
        for (ModuleHook* hook : m_inForce) m_hooks.add(hook);
    }
    ~Held() {
        for (ModuleHook* hook : m_inForce) m_hooks.remove(hook);
        m_queue.release();
    }
    Held(const Held&) = delete;

private:
    Hooks& m_hooks;
    std::vector<ModuleHook*> m_inForce;
    HeldQueue& m_queue;
};

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

}  // namespace

HeldPass runHeld(const Pass& pass, Hooks& hooks, SpanRecorder& recorder, BorderClock& clock, HeldQueue& queue) {
    HoldHook holds(recorder, queue);
    {
        const Held held(hooks, {&holds, &recorder}, queue);
        recorder.beginPass(/*hostTimes=*/false);
        pass();
        recorder.endPass();
    }
    clock.wait();
    holds.ends.push_back(recorder.endMark());
    HeldPass made;
    made.spans = recorder.read();
    made.stretches = static_cast<int>(holds.begins.size());
    for (std::size_t index = 0; index < holds.begins.size(); ++index) {
        made.stretchesUs += clock.betweenUs(holds.begins[index], holds.ends[index]);
        made.stretchBorders += holds.ends[index] - holds.begins[index];
    }
    return made;
}

GraphProfile heldProfile(const std::vector<HeldPass>& bordered, const std::vector<HeldPass>& plain) {
    const auto mediansOf = [](const std::vector<HeldPass>& passes) {
        std::vector<double> values;
        for (const HeldPass& pass : passes) values.push_back(pass.stretchesUs);
        return median(values);
    };
    GraphProfile profile;
    profile.kernelsKnown = false;
    profile.method = "held stream, the stream's gaps between kernels included";
    const HeldPass& one = bordered.front();
    const int inner = one.stretchBorders - plain.front().stretchBorders;
    const double plainUs = mediansOf(plain);
    profile.markCostUs = inner > 0 ? (mediansOf(bordered) - plainUs) / inner : 0;
    // Both kinds of pass have a border at the end of each stretch: that cost is in both.
    const auto ends = [&](const HeldPass& pass) { return profile.markCostUs * pass.stretchBorders; };
    profile.plainUs = plainUs - ends(plain.front());
    for (const HeldPass& pass : plain) profile.plainReplaysUs.push_back(pass.stretchesUs - ends(pass));

    for (const Visit& visit : one.spans.visits) {
        GraphNode node;
        node.kind = NodeKind::other;
        node.module = visit.module;
        profile.nodes.push_back(std::move(node));
    }
    profile.nodes.emplace_back().kind = NodeKind::other;  // what no module covers
    for (const HeldPass& pass : bordered) {
        double rest = pass.stretchesUs - ends(pass);
        for (std::size_t index = 0; index < pass.spans.visits.size(); ++index) {
            const Visit& visit = pass.spans.visits[index];
            const double self = visit.selfUs - profile.markCostUs * visit.selfBorders;
            profile.nodes[index].replaysUs.push_back(self);
            rest -= self;
        }
        profile.nodes.back().replaysUs.push_back(rest);
    }
    double sum = 0;
    for (GraphNode& node : profile.nodes) {
        node.backToBackUs = std::max(0.0, mean(node.replaysUs));
        sum += node.backToBackUs;
    }
    profile.conservationPct = 100.0 * (sum / profile.plainUs - 1.0);
    if (std::abs(profile.conservationPct) > kConservationLimitPct) {
        profile.warnings.push_back(fmt::format("unreliable: the modules' times add up to {:+.2f} % of the pass without borders", profile.conservationPct));
    }
    return profile;
}

Result<GraphProfile> measureHeldStream(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, BorderClock& clock, HeldQueue& queue,
                                       const HeldStreamOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress,
                                       std::stop_token stop) {
    SpanRecorder borders(modules, ProfileLevel::leaf, clock, /*shareBorders=*/true, options.hostNow);
    SpanRecorder none({modules.size(), ModuleInfo{}}, ProfileLevel::leaf, clock, /*shareBorders=*/true, options.hostNow);  // the ends of stretches alone
    std::vector<HeldPass> bordered, plain;
    // Borders are shared from what the first passes teach; only those with the borders of the last one can be put together.
    const std::int64_t total = options.warmup + options.passes;
    int timedOut = 0;
    for (std::int64_t round = 0; round < total; ++round) {
        if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
        HeldPass with = runHeld(pass, hooks, borders, clock, queue);
        HeldPass without = runHeld(pass, hooks, none, clock, queue);
        const int late = queue.timedOut();
        if (round >= options.warmup) timedOut += late;
        if (timedOut > 0) {
            return makeError(ErrorCode::environment, fmt::format("The stream could not be held while the host enqueued {} layers: the pass waits for the device inside, or "
                                                                 "the host is very slow", kLayersAHold));
        }
        if (round < options.warmup) continue;
        if (!bordered.empty() && bordered.front().stretchBorders != with.stretchBorders) {
            bordered.clear();
            plain.clear();
        }
        bordered.push_back(std::move(with));
        plain.push_back(std::move(without));
        if (progress) progress(round + 1, total);
    }
    return heldProfile(bordered, plain);
}

}  // namespace kernelscope
