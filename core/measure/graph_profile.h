#pragma once
// GPU time of every node of a captured pass, without any profiling library: the pass is captured as a CUDA graph, a
// one-thread kernel that stores %globaltimer is put between every two nodes of a clone, and the cost of those marks,
// measured in the same run, is taken off. ARCHITECTURE.md, "GPU time", has the accuracy against CUPTI.

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/measure/span_profile.h"
#include "core/model/hooks.h"

namespace kernelscope {

/// What stands between two nodes of the marked graph. Timestamps: a one-thread kernel each. Events: event-record nodes, for a GPU whose
/// clock steps too coarsely; less exact (2 to 4 % a type where timestamps give 1), and three times the host time a replay.
enum class MarkKind { automatic, timestamps, events };

struct GraphProfileOptions {
    MarkKind marks = MarkKind::automatic;
    int instances = 3;  ///< the marks' cost differs between instances of one graph by up to 2.5 %
    int warmup = 5;     ///< replays of each instance before any counts
    int replays = 20;   ///< of each instance, interleaved with as many of the plain graph
};

enum class NodeKind { kernel, memset, memcpy, other };

struct GraphNode {
    NodeKind kind = NodeKind::kernel;
    std::string name;            ///< demangled; "memset", "memcpy" for the others
    int module = -1;             ///< innermost open module when it was captured; -1: none
    double backToBackUs = 0;     ///< from the end of the node before to its own end, mean over replays and instances
    double kernelUs = 0;         ///< of which the kernel alone, in the sense of a device-side trace: see kMarkKernelUs
    std::vector<double> replaysUs;  ///< backToBackUs by replay, averaged over instances
};

struct GraphProfile {
    std::vector<GraphNode> nodes;        ///< in order of execution
    double plainUs = 0;                  ///< the unmarked graph, end to end, median
    std::vector<double> plainReplaysUs;
    double conservationPct = 0;          ///< 100 x (sum of the nodes / plainUs - 1)
    double markCostUs = 0;               ///< what a mark adds, mean over instances
    double kernelGapUs = 0;              ///< what a device-side trace does not count between two kernels of this graph
    bool kernelsKnown = true;            ///< false: nodes are modules' stretches of a held stream (held_stream.h), kernelUs is not known
    std::string method;                  ///< how it was measured, for the note
    std::vector<std::string> warnings;
};

/// A mark adds its own kernel and one gap between kernels: markCostUs = kMarkKernelUs + the gap. The mark's kernel is always the same; the gap is not:
/// a process to which CUPTI is attached has 0.39 us between two nodes of a graph and another 0.05. So the gap is what the run's own marks say.
/// 0.60 is 0.99 - 0.387, marks' cost and gap against CUPTI on an H200; elsewhere an assumption. It moves kernel_us only.
inline constexpr double kMarkKernelUs = 0.60;
/// The gap where events are the marks and say nothing of it: the larger of the two seen.
inline constexpr double kKernelGapByEventsUs = 0.387;

/// Precondition: CUDA device, activated on this thread; `pass` has run before and only enqueues. Errors: environment, with
/// the reason why the pass cannot be captured (the caller then goes on without GPU time); cancelled.
Result<GraphProfile> measureGraph(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, const Device& device,
                                  const GraphProfileOptions& options, const std::function<void(std::int64_t done, std::int64_t total)>& progress,
                                  std::stop_token stop);

/// The pass as one graph, launched by each call, such as measureGraph measures: for a trace of the same graph. Precondition and errors as there.
Result<Pass> makeGraphPass(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks);

}  // namespace kernelscope
