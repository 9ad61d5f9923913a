#include "core/measure/graph_profile.h"

#include <algorithm>
#include <cmath>

#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "core/device/cuda_marks.h"
#include "core/measure/captured_pass.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

// A graph of a thousand nodes is submitted in 7 to 30 us; behind a spin this long it is always complete when it starts.
constexpr int kHoldUs = 500;
// A memset node's share that a device-side trace does not count; fitted against CUPTI on an H200.
constexpr double kMemsetGapUs = 2.7;
// A coarser clock would make a 2 us kernel 0 or 2 steps long.
constexpr std::int64_t kCoarsestStepNs = 100;
constexpr double kConservationLimitPct = 0.5;

void check(cudaError_t status) { C10_CUDA_CHECK(status); }

struct EventPair {
    cudaEvent_t begin = nullptr, end = nullptr;
    EventPair() { check(cudaEventCreate(&begin)); check(cudaEventCreate(&end)); }
    ~EventPair() { cudaEventDestroy(begin); cudaEventDestroy(end); }
    EventPair(const EventPair&) = delete;
    double us() const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        return 1000.0 * static_cast<double>(milliseconds);
    }
};

void link(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
    check(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1));
#else
    check(cudaGraphAddDependencies(graph, &from, &to, 1));
#endif
}

/// Without edge data this removes programmatic edges too.
void unlink(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
    check(cudaGraphRemoveDependencies(graph, &from, &to, nullptr, 1));
#else
    check(cudaGraphRemoveDependencies(graph, &from, &to, 1));
#endif
}

/// A clone of the captured pass between two event nodes, with a mark between every two of its nodes or without.
class Instance {
public:
    Instance(const CapturedPass& captured, std::uint64_t* slots) {
        check(cudaGraphClone(&m_graph, captured.graph()));
        std::vector<cudaGraphNode_t> nodes;
        for (const CapturedNode& node : captured.nodes()) {
            cudaGraphNode_t clone = nullptr;
            check(cudaGraphNodeFindInClone(&clone, node.handle, m_graph));
            nodes.push_back(clone);
        }
        cudaGraphNode_t begin = nullptr, end = nullptr;
        check(cudaGraphAddEventRecordNode(&begin, m_graph, nullptr, 0, m_events.begin));
        const cudaGraphNode_t last = slots ? addMarks(nodes, begin, slots) : (link(m_graph, begin, nodes.front()), nodes.back());
        check(cudaGraphAddEventRecordNode(&end, m_graph, &last, 1, m_events.end));
        check(cudaGraphInstantiate(&m_exec, m_graph, 0));
        check(cudaGraphUpload(m_exec, stream()));
    }
    ~Instance() {
        if (m_exec) cudaGraphExecDestroy(m_exec);
        if (m_graph) cudaGraphDestroy(m_graph);
    }
    Instance(const Instance&) = delete;

    /// Replays once behind a short hold and waits. Returns end to end in microseconds.
    double replay() {
        check(cuda::spin(stream(), kHoldUs));
        check(cudaGraphLaunch(m_exec, stream()));
        check(cudaStreamSynchronize(stream()));
        return m_events.us();
    }

    static cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

private:
    /// begin -> mark 0 -> node 0 -> mark 1 -> ... -> node N-1 -> mark N; returns mark N.
    cudaGraphNode_t addMarks(const std::vector<cudaGraphNode_t>& nodes, cudaGraphNode_t begin, std::uint64_t* slots) {
        cudaGraphNode_t before = begin;
        for (std::size_t index = 0; index <= nodes.size(); ++index) {
            if (index > 0 && index < nodes.size()) unlink(m_graph, nodes[index - 1], nodes[index]);
            const cuda::MarkNode parameters(slots, static_cast<std::int64_t>(index));
            cudaGraphNode_t mark = nullptr;
            check(cudaGraphAddKernelNode(&mark, m_graph, &before, 1, parameters.params()));
            if (index == nodes.size()) return mark;
            link(m_graph, mark, nodes[index]);
            before = nodes[index];
        }
        return before;
    }

    EventPair m_events;
    cudaGraph_t m_graph = nullptr;
    cudaGraphExec_t m_exec = nullptr;
};

/// A marked instance and what its replays said.
struct Marked {
    std::uint64_t* slots = nullptr;
    std::unique_ptr<Instance> instance;
    std::vector<double> endToEndUs;
    std::vector<std::vector<double>> intervalsUs;  // by replay, by node: mark to mark

    Marked(const CapturedPass& captured) {
        check(cudaMalloc(&slots, (captured.nodes().size() + 1) * sizeof(std::uint64_t)));
        instance = std::make_unique<Instance>(captured, slots);
    }
    ~Marked() { if (slots) cudaFree(slots); }
    Marked(const Marked&) = delete;

    void replay(std::size_t nodes) {
        endToEndUs.push_back(instance->replay());
        std::vector<std::uint64_t> stamps(nodes + 1);
        check(cudaMemcpy(stamps.data(), slots, stamps.size() * sizeof stamps[0], cudaMemcpyDeviceToHost));
        std::vector<double> intervals(nodes);
        for (std::size_t node = 0; node < nodes; ++node) intervals[node] = static_cast<double>(stamps[node + 1] - stamps[node]) / 1000.0;
        intervalsUs.push_back(std::move(intervals));
    }
    [[nodiscard]] double markCostUs(double plainUs) const {
        return (median(endToEndUs) - plainUs) / static_cast<double>(intervalsUs.front().size() + 1);
    }
};

void fillTimes(GraphProfile& profile, const std::vector<std::unique_ptr<Marked>>& marked) {
    const std::size_t replays = marked.front()->intervalsUs.size();
    const double share = 1.0 / static_cast<double>(marked.size());
    for (std::size_t node = 0; node < profile.nodes.size(); ++node) {
        GraphNode& out = profile.nodes[node];
        out.replaysUs.assign(replays, 0.0);
        for (const auto& instance : marked) {
            const double cost = instance->markCostUs(profile.plainUs);
            for (std::size_t replay = 0; replay < replays; ++replay) out.replaysUs[replay] += share * (instance->intervalsUs[replay][node] - cost);
        }
        double sum = 0;
        for (double value : out.replaysUs) sum += value;
        out.backToBackUs = sum / static_cast<double>(replays);
        const double gap = out.kind == NodeKind::memset ? kMemsetGapUs - profile.markCostUs : kKernelGapUs;
        out.kernelUs = std::max(0.0, out.backToBackUs - gap);
    }
}

}  // namespace

Result<GraphProfile> measureGraph(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, const Device&,
                                  const GraphProfileOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress,
                                  std::stop_token stop) {
    const std::int64_t step = cuda::clockStepNs(Instance::stream());
    if (step == 0 || step > kCoarsestStepNs) {
        return makeError(ErrorCode::environment, fmt::format("This GPU's clock steps by {} ns: too coarse to time single kernels", step));
    }
    const Result<CapturedPass> captured = CapturedPass::capture(pass, modules, hooks);
    if (!captured) return captured.error();

    GraphProfile profile;
    profile.method = "marked graph";
    for (const CapturedNode& node : captured->nodes()) {
        GraphNode out;
        out.kind = node.kind;
        out.name = node.name;
        out.module = node.module;
        profile.nodes.push_back(std::move(out));
    }
    const std::size_t count = profile.nodes.size();
    Instance plain(*captured, nullptr);
    std::vector<std::unique_ptr<Marked>> marked;
    for (int index = 0; index < options.instances; ++index) marked.push_back(std::make_unique<Marked>(*captured));

    const std::int64_t total = options.warmup + options.replays;
    for (std::int64_t round = 0; round < total; ++round) {
        if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
        if (round == options.warmup) {  // what came before was warm-up
            profile.plainReplaysUs.clear();
            for (auto& each : marked) { each->endToEndUs.clear(); each->intervalsUs.clear(); }
        }
        profile.plainReplaysUs.push_back(plain.replay());
        for (auto& each : marked) each->replay(count);
        if (progress) progress(round + 1, total);
    }

    profile.plainUs = median(profile.plainReplaysUs);
    for (const auto& each : marked) profile.markCostUs += each->markCostUs(profile.plainUs) / static_cast<double>(marked.size());
    fillTimes(profile, marked);
    double sum = 0;
    for (const GraphNode& node : profile.nodes) sum += node.backToBackUs;
    profile.conservationPct = 100.0 * (sum / profile.plainUs - 1.0);
    if (std::abs(profile.conservationPct) > kConservationLimitPct) {
        profile.warnings.push_back(fmt::format("unreliable: the nodes' times add up to {:+.2f} % of the graph's own time", profile.conservationPct));
    }
    return profile;
}

}  // namespace kernelscope
