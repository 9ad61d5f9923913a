#pragma once
// Eager passes of one phase, alternately with the profiler's hooks and without, as measurement of spans and of their tax.

#include <functional>
#include <stop_token>

#include "core/device/device.h"
#include "core/measure/span_table.h"
#include "core/model/hooks.h"

namespace kernelscope {

/// Work that is repeated: one forward pass at a fixed position. Only enqueues; must not wait for the device.
using Pass = std::function<void()>;

struct SpanProfileOptions {
    ProfileLevel level = ProfileLevel::type;
    std::int64_t iterations = 50;  ///< instrumented passes, made whole rounds (span_round.h); as many plain ones run between them
    std::int64_t warmup = 10;
};

struct SpanProfileEvents {
    std::function<void(std::int64_t done, std::int64_t total)> passDone;  ///< after every pass, warm-up included
    std::function<void(const SpanTable&)> tableGrew;                     ///< after every round of instrumented passes
};

struct SpanProfile {
    double firstPassUs = 0;  ///< the very first call, its one-time costs included; never averaged in
    SpanTable table;
    PassSpans lastPass;      ///< one pass with borders in all layers and host times, for the timeline; empty when it ended early
};

/// Runs 1 + warmup + 2 x iterations + 1 passes. Ends early, with what it has, when `stop` is requested.
/// `onQueue`: whether a mark costs the host time, so that borders are shared and passes take turns.
SpanProfile measureSpans(const std::string& phase, const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, BorderClock& clock, bool onQueue,
                         const SpanProfileOptions& options, const SpanProfileEvents& events, std::stop_token stop);

/// The same with the device's clock; the device is idle afterwards.
Result<SpanProfile> measureSpans(const std::string& phase, const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks,
                                 const Device& device, const SpanProfileOptions& options, const SpanProfileEvents& events, std::stop_token stop);

}  // namespace kernelscope
