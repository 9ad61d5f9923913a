#pragma once
// GPU time of each module where the pass cannot be one chain of a graph: the stream is held while the host enqueues a few layers, so that
// the device then runs them back to back between the borders' events, whose own cost, measured in the same run, is taken off. The 1.1 us gap that a
// stream leaves between two kernels stays in it, and kernels have no times of their own.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/measure/graph_profile.h"
#include "core/measure/span_recorder.h"

namespace kernelscope {

/// A queue that can be made to wait while more is enqueued.
class HeldQueue {
public:
    virtual ~HeldQueue() = default;
    /// What is enqueued from here on waits for release(). What an earlier hold kept waiting is let go.
    virtual void hold() = 0;
    virtual void release() = 0;
    /// How many holds ended by themselves since the last call, because the host took too long. Precondition: the queue is idle.
    virtual int timedOut() = 0;
};

struct HeldStreamOptions {
    int warmup = 8;   ///< held passes before any counts; what the first ones allocate may wait for a hold to end by itself
    int passes = 10;  ///< with borders, and as many without
    SpanRecorder::HostNow hostNow = SpanRecorder::HostClock::now;  ///< tests bring their own
};

/// A pass in stretches between holds: where each began and ended.
struct HeldPass {
    PassSpans spans;
    double stretchesUs = 0;  ///< sum of the stretches
    int stretchBorders = 0;  ///< intervals between one mark and the next in them
    int stretches = 0;
};

/// Puts passes with borders beside passes without. Pure arithmetic; both lists hold at least one pass, the former all with the same visits.
GraphProfile heldProfile(const std::vector<HeldPass>& bordered, const std::vector<HeldPass>& plain);

/// Runs one pass under holds, at most kLayersAHold decoder layers each. `borders`: whether modules have borders. `recorder` keeps what it learns
/// from pass to pass. Waits for the end.
HeldPass runHeld(const Pass& pass, Hooks& hooks, SpanRecorder& recorder, BorderClock& clock, HeldQueue& queue);

/// A stream holds some 1,000 entries, then the launching host waits for it and the hold would end by itself: four layers of a Qwen2 are 170
/// kernels and 60 borders.
inline constexpr int kLayersAHold = 4;

/// Precondition: CUDA device, activated; `pass` has run before and only enqueues. Modules are those of level leaf. Errors: environment, when
/// the host did not finish enqueuing in time (the pass waits for the device inside); cancelled.
Result<GraphProfile> measureHeldStream(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, const HeldStreamOptions& options,
                                       const std::function<void(std::int64_t done, std::int64_t total)>& progress, std::stop_token stop);

/// The same over any queue and clock.
Result<GraphProfile> measureHeldStream(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, BorderClock& clock, HeldQueue& queue,
                                       const HeldStreamOptions& options, const std::function<void(std::int64_t done, std::int64_t total)>& progress,
                                       std::stop_token stop);

}  // namespace kernelscope
