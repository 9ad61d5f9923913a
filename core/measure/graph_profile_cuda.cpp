#include "core/measure/graph_profile.h"

#include <algorithm>
#include <cmath>

#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "core/device/cuda_marks.h"
#include "core/device/cuda_support.h"
#include "core/measure/captured_pass.h"
#include "core/records/statistics.h"

namespace kernelscope {
namespace {

// A graph of a thousand nodes is submitted in 7 to 30 us; behind a spin this long it is always complete when it starts.
constexpr int kHoldUs = 500;
// A memset node's share that a device-side trace does not count; fitted against CUPTI on an H200.
constexpr double kMemsetGapUs = 2.7;
// The same where events are the marks.
constexpr double kMemsetGapBetweenEventsUs = 1.30;
// More event nodes than this in one graph behind a busy stream block the launch.
constexpr std::size_t kEventsInOneGraph = 500;
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

/// A row of instants inside a graph.
class Marks {
public:
    virtual ~Marks() = default;
    /// Adds mark number `index` behind `before`.
    virtual cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t before, std::size_t index) = 0;
    /// Times from each mark to the next in microseconds. Precondition: the graph has run.
    virtual std::vector<double> intervalsUs() const = 0;
};

class TimestampMarks final : public Marks {
public:
    explicit TimestampMarks(std::size_t count) : m_count(count) { check(cudaMalloc(&m_slots, count * sizeof(std::uint64_t))); }
    ~TimestampMarks() override { cudaFree(m_slots); }
    TimestampMarks(const TimestampMarks&) = delete;

    cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t before, std::size_t index) override {
        const cuda::MarkNode parameters(m_slots, static_cast<std::int64_t>(index));
        cudaGraphNode_t mark = nullptr;
        check(cudaGraphAddKernelNode(&mark, graph, &before, 1, parameters.params()));
        return mark;
    }
    std::vector<double> intervalsUs() const override {
        std::vector<std::uint64_t> stamps(m_count);
        check(cudaMemcpy(stamps.data(), m_slots, m_count * sizeof stamps[0], cudaMemcpyDeviceToHost));
        std::vector<double> intervals;
        for (std::size_t index = 1; index < m_count; ++index) intervals.push_back(static_cast<double>(stamps[index] - stamps[index - 1]) / 1000.0);
        return intervals;
    }

private:
    std::size_t m_count;
    std::uint64_t* m_slots = nullptr;
};

class EventMarks final : public Marks {
public:
    explicit EventMarks(std::size_t count) : m_events(count) {
        for (cudaEvent_t& event : m_events) check(cudaEventCreate(&event));
    }
    ~EventMarks() override {
        for (cudaEvent_t event : m_events) cudaEventDestroy(event);
    }
    EventMarks(const EventMarks&) = delete;

    cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t before, std::size_t index) override {
        cudaGraphNode_t mark = nullptr;
        check(cudaGraphAddEventRecordNode(&mark, graph, &before, 1, m_events[index]));
        return mark;
    }
    std::vector<double> intervalsUs() const override {
        std::vector<double> intervals;
        for (std::size_t index = 1; index < m_events.size(); ++index) {
            float milliseconds = 0;
            check(cudaEventElapsedTime(&milliseconds, m_events[index - 1], m_events[index]));
            intervals.push_back(1000.0 * static_cast<double>(milliseconds));
        }
        return intervals;
    }

private:
    std::vector<cudaEvent_t> m_events;
};

/// A clone of the captured pass between two event nodes, with marks around the nodes from `first` to before `last`, or with none.
class Instance {
public:
    Instance(const CapturedPass& captured, Marks* marks, std::size_t first = 0, std::size_t last = 0) {
        check(cudaGraphClone(&m_graph, captured.graph()));
        std::vector<cudaGraphNode_t> nodes;
        for (const CapturedNode& node : captured.nodes()) {
            cudaGraphNode_t clone = nullptr;
            check(cudaGraphNodeFindInClone(&clone, node.handle, m_graph));
            nodes.push_back(clone);
        }
        cudaGraphNode_t begin = nullptr, end = nullptr;
        check(cudaGraphAddEventRecordNode(&begin, m_graph, nullptr, 0, m_events.begin));
        const cudaGraphNode_t tail = chain(nodes, begin, marks, first, last);
        check(cudaGraphAddEventRecordNode(&end, m_graph, &tail, 1, m_events.end));
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

    void launch() { check(cudaGraphLaunch(m_exec, stream())); }

    static cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

private:
    /// begin -> ... -> mark 0 -> node first -> mark 1 -> ... -> node last-1 -> mark last-first -> ...; returns the end of the chain.
    cudaGraphNode_t chain(const std::vector<cudaGraphNode_t>& nodes, cudaGraphNode_t begin, Marks* marks, std::size_t first, std::size_t last) {
        cudaGraphNode_t before = begin;
        for (std::size_t index = 0; index <= nodes.size(); ++index) {
            const bool marked = marks && index >= first && index <= last;
            const bool linked = index > 0 && index < nodes.size();  // by the capture itself
            if (marked) {
                if (linked) unlink(m_graph, nodes[index - 1], nodes[index]);
                before = marks->add(m_graph, before, index - first);
            }
            if (index == nodes.size()) break;
            if (marked || !linked) link(m_graph, before, nodes[index]);
            before = nodes[index];
        }
        return before;
    }

    EventPair m_events;
    cudaGraph_t m_graph = nullptr;
    cudaGraphExec_t m_exec = nullptr;
};

/// A marked instance and what its replays said.
class Marked {
public:
    Marked(const CapturedPass& captured, std::unique_ptr<Marks> marks, std::size_t first, std::size_t last)
        : m_first(first), m_last(last), m_marks(std::move(marks)), m_instance(captured, m_marks.get(), first, last) {}

    void replay() {
        m_endToEndUs.push_back(m_instance.replay());
        m_intervalsUs.push_back(m_marks->intervalsUs());
    }
    void forget() {
        m_endToEndUs.clear();
        m_intervalsUs.clear();
    }
    [[nodiscard]] double markCostUs(double plainUs) const { return (median(m_endToEndUs) - plainUs) / static_cast<double>(m_last - m_first + 1); }
    [[nodiscard]] bool covers(std::size_t node) const { return node >= m_first && node < m_last; }
    [[nodiscard]] double intervalUs(std::size_t replay, std::size_t node) const { return m_intervalsUs[replay][node - m_first]; }
    [[nodiscard]] std::size_t replays() const { return m_intervalsUs.size(); }

private:
    std::size_t m_first, m_last;
    std::unique_ptr<Marks> m_marks;
    Instance m_instance;
    std::vector<double> m_endToEndUs;
    std::vector<std::vector<double>> m_intervalsUs;  // by replay
};

std::vector<std::unique_ptr<Marked>> makeMarked(const CapturedPass& captured, MarkKind kind, int instances) {
    const std::size_t nodes = captured.nodes().size();
    std::vector<std::unique_ptr<Marked>> made;
    if (kind == MarkKind::timestamps) {
        for (int index = 0; index < instances; ++index) made.push_back(std::make_unique<Marked>(captured, std::make_unique<TimestampMarks>(nodes + 1), 0, nodes));
        return made;
    }
    for (std::size_t first = 0; first < nodes; first += kEventsInOneGraph - 1) {
        const std::size_t last = std::min(nodes, first + kEventsInOneGraph - 1);
        made.push_back(std::make_unique<Marked>(captured, std::make_unique<EventMarks>(last - first + 1), first, last));
    }
    return made;
}

void fillTimes(GraphProfile& profile, const std::vector<std::unique_ptr<Marked>>& marked, MarkKind kind) {
    const std::size_t replays = marked.front()->replays();
    const double memsetGapUs = kind == MarkKind::timestamps ? kMemsetGapUs - profile.markCostUs : kMemsetGapBetweenEventsUs;
    for (std::size_t node = 0; node < profile.nodes.size(); ++node) {
        GraphNode& out = profile.nodes[node];
        out.replaysUs.assign(replays, 0.0);
        int covering = 0;
        for (const auto& instance : marked) {
            if (!instance->covers(node)) continue;
            ++covering;
            const double cost = instance->markCostUs(profile.plainUs);
            for (std::size_t replay = 0; replay < replays; ++replay) out.replaysUs[replay] += instance->intervalUs(replay, node) - cost;
        }
        double sum = 0;
        for (double& value : out.replaysUs) {
            value /= covering;
            sum += value;
        }
        out.backToBackUs = sum / static_cast<double>(replays);
        out.kernelUs = std::max(0.0, out.backToBackUs - (out.kind == NodeKind::memset ? memsetGapUs : profile.kernelGapUs));
    }
}

}  // namespace

Result<GraphProfile> measureGraph(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks, const Device&,
                                  const GraphProfileOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress,
                                  std::stop_token stop) {
    MarkKind kind = options.marks;
    if (kind == MarkKind::automatic) {
        const Result<std::int64_t> stepNs = cuda::clockStepNs();
        if (!stepNs) return stepNs.error();
        kind = *stepNs > 0 && *stepNs <= kCoarsestStepNs ? MarkKind::timestamps : MarkKind::events;
    }
    Result<CapturedPass> capturedOnce = CapturedPass::capture(pass, modules, hooks);
    if (!capturedOnce) return capturedOnce.error();
    const auto captured = std::make_shared<const CapturedPass>(std::move(*capturedOnce));  // the graph's memory

    GraphProfile profile;
    profile.method = kind == MarkKind::timestamps ? "marked graph" : "marked graph, by events";
    for (const CapturedNode& node : captured->nodes()) {
        GraphNode out;
        out.kind = node.kind;
        out.name = node.name;
        out.module = node.module;
        profile.nodes.push_back(std::move(out));
    }
    const auto plain = std::make_shared<Instance>(*captured, nullptr);
    profile.replayGraph = [captured, plain] { plain->launch(); };
    profile.runEagerly = [captured, pass] { captured->runEagerly(pass); };
    std::vector<std::unique_ptr<Marked>> marked = makeMarked(*captured, kind, options.instances);

    const std::int64_t total = options.warmup + options.replays;
    for (std::int64_t round = 0; round < total; ++round) {
        if (stop.stop_requested()) return makeError(ErrorCode::cancelled, "Cancelled");
        if (round == options.warmup) {  // what came before was warm-up
            profile.plainReplaysUs.clear();
            for (auto& each : marked) each->forget();
        }
        profile.plainReplaysUs.push_back(plain->replay());
        for (auto& each : marked) each->replay();
        if (progress) progress(round + 1, total);
    }

    profile.plainUs = median(profile.plainReplaysUs);
    for (const auto& each : marked) profile.markCostUs += each->markCostUs(profile.plainUs) / static_cast<double>(marked.size());
    const bool underCupti = kind == MarkKind::timestamps && profile.markCostUs > kLeastMarkCostUnderCuptiUs;
    profile.kernelGapUs = underCupti ? kKernelGapUnderCuptiUs : kKernelGapUs;
    fillTimes(profile, marked, kind);
    double sum = 0;
    for (const GraphNode& node : profile.nodes) sum += node.backToBackUs;
    profile.conservationPct = 100.0 * (sum / profile.plainUs - 1.0);
    if (std::abs(profile.conservationPct) > kConservationLimitPct) {
        profile.warnings.push_back(fmt::format("unreliable: the nodes' times add up to {:+.2f} % of the graph's own time", profile.conservationPct));
    }
    return profile;
}

}  // namespace kernelscope
