#pragma once
// A border costs the host time, and in a pass that waits for its host all of it shows. So on a queue a pass has borders in every third layer only, the next pass
// in the layers after these: a round of passes, each with its turn, has seen every layer once.

#include <vector>

#include "core/measure/span_recorder.h"

namespace kernelscope {

/// Turns in a round: 1 where borders are cheap (a CPU), or where too few layers hold modules that the level times.
int turnsOf(const std::vector<ModuleInfo>& modules, ProfileLevel level, bool onQueue);

/// One whole pass out of a round, `round[turn]` being the pass in which the layers of that turn had borders: each layer as its own pass saw it, what stands beside the layers
/// in the mean of all. Its total is the mean of the passes' own; what was put together holds the borders of all layers and is scaled to that, so shares are those of
/// what was put together, and times of modules and of nobody add up to the total. Time between the last module of one layer and the first one of the next, no pass of a round
/// sees: the model enqueues nothing there. Visits keep the order of their passes, not of time.
PassSpans joinRound(const std::vector<PassSpans>& round, const std::vector<ModuleInfo>& modules);

}  // namespace kernelscope
