#pragma once
// A forward pass as a CUDA graph whose nodes know their module and their kernel's name. CUDA builds only.

#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include "core/measure/graph_profile.h"

namespace at::cuda { struct CUDAGraph; }

namespace kernelscope {

struct CapturedNode {
    cudaGraphNode_t handle = nullptr;
    NodeKind kind = NodeKind::kernel;
    std::string name;
    int module = -1;
};

class CapturedPass {
public:
    /// Captures `pass` on this thread's current stream. Errors: environment (it cannot be captured, or its graph is no chain).
    static Result<CapturedPass> capture(const Pass& pass, const std::vector<ModuleInfo>& modules, Hooks& hooks);
    ~CapturedPass();
    CapturedPass(CapturedPass&&) noexcept;
    CapturedPass& operator=(CapturedPass&&) noexcept;

    [[nodiscard]] cudaGraph_t graph() const;
    /// In order of execution.
    [[nodiscard]] const std::vector<CapturedNode>& nodes() const { return m_nodes; }

    /// Runs `pass`, the one captured, eagerly on this thread's current stream, its tensors in the memory that the graph's nodes use. No replay may be running.
    void runEagerly(const Pass& pass) const;

private:
    CapturedPass();
    std::unique_ptr<at::cuda::CUDAGraph> m_graph;  // owns the memory that the nodes use
    std::vector<CapturedNode> m_nodes;
};

}  // namespace kernelscope
