#include "core/measure/timeline.h"

#include "core/measure/gpu_columns.h"

namespace kernelscope {

std::vector<ProfileModuleRow> moduleRows(const std::string& phase, const SpanTable& table, const GraphProfile* graph, const std::vector<ModuleInfo>& modules) {
    const std::vector<std::optional<double>> spans = table.medianSelfByModule();
    const std::vector<double> gpu = graph ? selfGpuByModule(*graph, modules.size()) : std::vector<double>(modules.size(), 0.0);
    std::vector<ProfileModuleRow> rows;
    for (const ModuleInfo& module : modules) {
        const auto index = static_cast<std::size_t>(module.index);
        if (!spans[index] && gpu[index] == 0.0) continue;
        ProfileModuleRow row;
        row.phase = phase;
        row.path = module.path;
        row.type = std::string(toString(module.type));
        if (module.layer >= 0) row.layer = module.layer;
        row.selfSpanUs = spans[index];
        if (graph) row.selfGpuUs = gpu[index];
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<ProfileEventRow> eventRows(const std::string& phase, const PassSpans& pass, const GraphProfile* graph, const std::vector<ModuleInfo>& modules) {
    std::vector<ProfileEventRow> rows;
    const auto ofModule = [&](const char* track, const ModuleInfo& module, double beginUs, double durationUs) {
        rows.push_back({phase, track, module.path, std::string(toString(module.type)), module.path, module.depth, beginUs, durationUs});
    };
    for (const Visit& visit : pass.visits) {
        const ModuleInfo& module = modules[static_cast<std::size_t>(visit.module)];
        ofModule("cpu", module, visit.hostBeginUs, visit.hostEndUs - visit.hostBeginUs);
    }
    for (const Visit& visit : pass.visits) ofModule("span", modules[static_cast<std::size_t>(visit.module)], visit.beginUs, visit.spanUs);
    if (!graph || !graph->kernelsKnown) return rows;
    double at = 0;
    for (const GraphNode& node : graph->nodes) {
        const ModuleInfo* module = node.module < 0 ? nullptr : &modules[static_cast<std::size_t>(node.module)];
        rows.push_back({phase, "kernel", node.name, module ? std::string(toString(module->type)) : std::string(), module ? module->path : std::string(),
                        module ? module->depth : 0, at, node.backToBackUs});
        at += node.backToBackUs;
    }
    return rows;
}

void keepGraphAlone(std::vector<ProfileModuleRow>& modules, std::vector<ProfileEventRow>& events) {
    std::erase_if(modules, [](const ProfileModuleRow& row) { return row.selfGpuUs.value_or(0) == 0; });
    for (ProfileModuleRow& row : modules) row.selfSpanUs = row.selfGpuUs;
    std::erase_if(events, [](const ProfileEventRow& row) { return row.track != "kernel"; });
}

}  // namespace kernelscope
