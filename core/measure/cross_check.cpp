#include "core/measure/cross_check.h"

#include <map>

#include <fmt/format.h>

namespace kernelscope {
namespace {

std::string typeOf(int module, const std::vector<ModuleInfo>& modules) {
    for (; module >= 0; module = modules[static_cast<std::size_t>(module)].parent) {
        const ModuleInfo& info = modules[static_cast<std::size_t>(module)];
        if (info.type != ModuleType::none) return std::string(toString(info.type));
    }
    return "unattributed";
}

struct Sum {
    std::int64_t kernels = 0, namesDiffer = 0;
    double traceUs = 0, kernelUs = 0, backToBackUs = 0;
};

CrossCheckRow makeRow(const std::string& phase, const std::string& name, const Sum& sum, const Sum& total) {
    CrossCheckRow row;
    row.phase = phase;
    row.name = name;
    row.kernels = sum.kernels;
    row.namesDiffer = sum.namesDiffer;
    row.traceUs = sum.traceUs;
    row.kernelUs = sum.kernelUs;
    row.gpuUs = sum.backToBackUs;
    if (sum.traceUs > 0) row.errorPct = 100.0 * (sum.kernelUs / sum.traceUs - 1.0);
    row.traceSharePct = 100.0 * sum.traceUs / total.traceUs;
    row.kernelSharePct = 100.0 * sum.kernelUs / total.kernelUs;
    row.shareErrorPoints = row.kernelSharePct - row.traceSharePct;
    return row;
}

}  // namespace

Result<CrossCheck> crossCheck(const std::string& phase, const GraphProfile& graph, const std::vector<std::vector<DeviceRecord>>& trace,
                              const std::vector<ModuleInfo>& modules) {
    if (!graph.kernelsKnown) return makeError(ErrorCode::cantTell, "There are no kernels to hold against the driver's trace: the GPU time comes from a held stream");
    if (trace.empty() || trace.front().size() != graph.nodes.size()) {
        return makeError(ErrorCode::cantTell, fmt::format("The trace holds {} records a pass, the captured pass {} nodes", trace.empty() ? 0 : trace.front().size(),
                                                          graph.nodes.size()));
    }
    std::map<std::string, Sum> byType;
    std::vector<std::string> order;
    Sum total;
    CrossCheck check;
    std::map<std::pair<std::string, std::string>, std::size_t> kernelAt;  // by type and name
    for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
        const GraphNode& node = graph.nodes[index];
        double traceUs = 0;
        for (const auto& pass : trace) {
            if (pass[index].kind != node.kind) {
                return makeError(ErrorCode::cantTell, fmt::format("Node {} is '{}' in the captured pass and '{}' in the trace", index, node.name, pass[index].name));
            }
            traceUs += pass[index].durationUs / static_cast<double>(trace.size());
        }
        const std::string type = typeOf(node.module, modules);
        if (!byType.contains(type)) order.push_back(type);
        for (Sum* sum : {&byType[type], &total}) {
            if (node.kind == NodeKind::kernel) {
                sum->kernels += 1;
                sum->namesDiffer += node.name != trace.front()[index].name;
            }
            sum->traceUs += traceUs;
            sum->kernelUs += node.kernelUs;
            sum->backToBackUs += node.backToBackUs;
        }
        const auto [at, isNew] = kernelAt.try_emplace({type, node.name}, check.kernels.size());
        if (isNew) check.kernels.push_back({type, node.name});
        CrossCheckKernel& kernel = check.kernels[at->second];
        kernel.count += 1;
        kernel.traceUs += traceUs;
        kernel.kernelUs += node.kernelUs;
        kernel.backToBackUs += node.backToBackUs;
    }
    for (const std::string& type : order) {
        if (type != "unattributed") check.rows.push_back(makeRow(phase, type, byType[type], total));
    }
    if (byType.contains("unattributed")) check.rows.push_back(makeRow(phase, "unattributed", byType["unattributed"], total));
    check.rows.push_back(makeRow(phase, "total", total, total));
    return check;
}

}  // namespace kernelscope
