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
    double kernelUs = 0;         ///< of which the kernel alone, in the sense of a device-side trace: see kKernelGapUs
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
    /// For a device-side trace of the same work, each call enqueues it once: the unmarked graph; and the pass as it was given, eagerly, its tensors where
    /// the graph has them (a kernel of a microsecond or two takes a tenth more or less in other memory, by which part of L2 is near). Both keep that
    /// memory alive; empty where nothing was captured.
    Pass replayGraph, runEagerly;
};

/// What a device-side trace does not count between two kernels of a graph; it moves kernel_us only. One constant for every pass: the mean of what eager
/// passes traced by CUPTI left of the graph's own time, in the same memory, on H200s (0.04 to 0.05, 0.07 where programmatic launches stand between
/// plain ones); elsewhere an assumption of +-0.05.
inline constexpr double kKernelGapUs = 0.05;
/// The same in a process to which CUPTI is attached: everything between two nodes is slower there, marks included, and that tells.
inline constexpr double kKernelGapUnderCuptiUs = 0.387, kLeastMarkCostUnderCuptiUs = 0.8;

/// Precondition: CUDA device, activated on this thread; `pass` has run before and only enqueues. Errors: environment, with
/// the reason why the pass cannot be captured (the caller then goes on without GPU time); cancelled.
Result<GraphProfile> measureGraph(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, const Device& device,
                                  const GraphProfileOptions& options, const std::function<void(std::int64_t done, std::int64_t total)>& progress,
                                  std::stop_token stop);

}  // namespace kernelscope
