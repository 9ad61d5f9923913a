#include "core/measure/captured_pass.h"

#include <cstdlib>
#include <unordered_map>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include "core/device/driver_function.h"

namespace kernelscope {
namespace {

/// At every border: the stream's last captured node, and the innermost module open from here on.
class NodeOwnerHook final : public ModuleHook {
public:
    struct Change { cudaGraphNode_t after; int module; };

    void enter(const ModuleInfo& module) override {
        m_open.push_back(module.index);
        note();
    }
    void leave(const ModuleInfo&) override {
        m_open.pop_back();
        note();
    }
    [[nodiscard]] const std::vector<Change>& changes() const { return m_changes; }

private:
    void note() { m_changes.push_back({lastNode(), m_open.empty() ? -1 : m_open.back()}); }

    static cudaGraphNode_t lastNode() {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        const cudaGraphNode_t* dependencies = nullptr;
        std::size_t count = 0;
        cudaGraph_t graph = nullptr;
        const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
#if CUDART_VERSION >= 13000
        const cudaGraphEdgeData* edges = nullptr;
        const cudaError_t failed = cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &dependencies, &edges, &count);
#else
        const cudaError_t failed = cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &dependencies, &count);
#endif
        if (failed != cudaSuccess || count == 0) return nullptr;
        return dependencies[count - 1];
    }

    std::vector<int> m_open;
    std::vector<Change> m_changes;
};

std::string demangled(const char* mangled) {
    int status = 0;
    char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 && text ? text : mangled;
    std::free(text);
    return name;
}

std::string kernelName(cudaGraphNode_t node) {
    static const auto getParams = cuda::driverFunction<CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*)>("cuGraphKernelNodeGetParams", 12000);
    static const auto functionName = cuda::driverFunction<CUresult (*)(const char**, CUfunction)>("cuFuncGetName", 12030);
    static const auto kernelNameOf = cuda::driverFunction<CUresult (*)(const char**, CUkernel)>("cuKernelGetName", 12030);
    CUDA_KERNEL_NODE_PARAMS params{};
    const char* name = nullptr;
    if (!getParams || getParams(reinterpret_cast<CUgraphNode>(node), &params) != CUDA_SUCCESS) return "kernel (name unknown)";
    if (params.func && functionName && functionName(&name, params.func) == CUDA_SUCCESS) return demangled(name);
    if (params.kern && kernelNameOf && kernelNameOf(&name, params.kern) == CUDA_SUCCESS) return demangled(name);
    return "kernel (name unknown)";
}

CapturedNode describe(cudaGraphNode_t handle) {
    cudaGraphNodeType type{};
    C10_CUDA_CHECK(cudaGraphNodeGetType(handle, &type));
    switch (type) {
        case cudaGraphNodeTypeKernel: return {handle, NodeKind::kernel, kernelName(handle), -1};
        case cudaGraphNodeTypeMemset: return {handle, NodeKind::memset, "memset", -1};
        case cudaGraphNodeTypeMemcpy: return {handle, NodeKind::memcpy, "memcpy", -1};
        default: return {handle, NodeKind::other, fmt::format("node of type {}", static_cast<int>(type)), -1};
    }
}

/// After a call that is not allowed in a capture the stream stays in capture mode until it is told to end.
void abandonCapture(at::cuda::CUDAGraph& graph) {
    try {
        graph.capture_end();
    } catch (const c10::Error&) {  // the same complaint once more
    }
    (void)cudaGetLastError();
}

/// While it lives, this thread's current stream allocates from a graph's memory.
class GraphMemory {
public:
    explicit GraphMemory(c10::MempoolId_t pool) : m_device(c10::cuda::current_device()), m_pool(pool), m_usersBefore(users()) {
        const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
        c10::cuda::CUDACachingAllocator::beginAllocateToPool(m_device, m_pool, [stream](cudaStream_t asking) { return asking == stream; });
    }
    ~GraphMemory() {
        c10::cuda::CUDACachingAllocator::endAllocateToPool(m_device, m_pool);
        if (users() > m_usersBefore) c10::cuda::CUDACachingAllocator::releasePool(m_device, m_pool);  // beginning counted as a user
    }
    GraphMemory(const GraphMemory&) = delete;

private:
    int users() const { return c10::cuda::CUDACachingAllocator::getPoolUseCount(m_device, m_pool); }

    c10::DeviceIndex m_device;
    c10::MempoolId_t m_pool;
    int m_usersBefore;
};

struct Edge { cudaGraphNode_t from, to; };

std::vector<Edge> edgesOf(cudaGraph_t graph) {
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    C10_CUDA_CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
#else
    C10_CUDA_CHECK(cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count));
#endif
    std::vector<cudaGraphNode_t> from(count), to(count);
    std::vector<cudaGraphEdgeData> data(count);
#if CUDART_VERSION >= 13000
    C10_CUDA_CHECK(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count));
#else
    C10_CUDA_CHECK(cudaGraphGetEdges_v2(graph, from.data(), to.data(), data.data(), &count));
#endif
    std::vector<Edge> edges;
    for (std::size_t index = 0; index < count; ++index) edges.push_back({from[index], to[index]});
    return edges;
}

/// The nodes from the root to the end, or an error when two of them could run side by side.
Result<std::vector<cudaGraphNode_t>> chainOf(cudaGraph_t graph) {
    std::size_t count = 0;
    C10_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    std::size_t roots = 1;
    cudaGraphNode_t root = nullptr;
    if (count == 0) return makeError(ErrorCode::environment, "The captured pass has no work in it");
    const cudaError_t rooted = cudaGraphGetRootNodes(graph, &root, &roots);
    const std::vector<Edge> edges = edgesOf(graph);
    std::unordered_map<cudaGraphNode_t, cudaGraphNode_t> next;
    for (const Edge& edge : edges) next.emplace(edge.from, edge.to);
    std::vector<cudaGraphNode_t> chain;
    for (cudaGraphNode_t node = root; node; node = next.contains(node) ? next.at(node) : nullptr) chain.push_back(node);
    if (rooted != cudaSuccess || edges.size() + 1 != count || chain.size() != count) {
        (void)cudaGetLastError();
        return makeError(ErrorCode::environment, fmt::format("The captured pass runs on branches ({} nodes, {} edges), not one after the other", count, edges.size()));
    }
    return chain;
}

}  // namespace

CapturedPass::CapturedPass() = default;
CapturedPass::~CapturedPass() = default;
CapturedPass::CapturedPass(CapturedPass&&) noexcept = default;
CapturedPass& CapturedPass::operator=(CapturedPass&&) noexcept = default;

cudaGraph_t CapturedPass::graph() const { return m_graph->raw_cuda_graph(); }

void CapturedPass::runEagerly(const Pass& pass) const {
    const GraphMemory memory(m_graph->pool());
    pass();
}

Result<CapturedPass> CapturedPass::capture(const Pass& pass, const std::vector<ModuleInfo>&, Hooks& hooks) {
    CapturedPass captured;
    captured.m_graph = std::make_unique<at::cuda::CUDAGraph>(/*keep_graph=*/true);
    NodeOwnerHook owners;
    hooks.add(&owners);
    try {
        captured.m_graph->capture_begin();
        pass();
        captured.m_graph->capture_end();
        hooks.remove(&owners);
    } catch (const c10::Error& error) {
        hooks.remove(&owners);
        abandonCapture(*captured.m_graph);
        return makeError(ErrorCode::environment, std::string("The pass cannot be captured as a CUDA graph: ") + error.what_without_backtrace());
    }
    const Result<std::vector<cudaGraphNode_t>> chain = chainOf(captured.graph());
    if (!chain) return chain.error();

    std::unordered_map<cudaGraphNode_t, std::size_t> place;
    for (std::size_t index = 0; index < chain->size(); ++index) {
        place.emplace((*chain)[index], index);
        captured.m_nodes.push_back(describe((*chain)[index]));
    }
    // A change says who owns what comes after its node, up to the next change's node.
    const auto& changes = owners.changes();
    for (std::size_t index = 0; index < changes.size(); ++index) {
        const auto after = [&](const NodeOwnerHook::Change& change) { return change.after ? place.at(change.after) + 1 : 0; };
        const std::size_t begin = after(changes[index]);
        const std::size_t end = index + 1 < changes.size() ? after(changes[index + 1]) : captured.m_nodes.size();
        for (std::size_t node = begin; node < end; ++node) captured.m_nodes[node].module = changes[index].module;
    }
    return captured;
}

}  // namespace kernelscope
