#pragma once
// Rows behind the layer heat map and the timeline of one pass.

#include <string>
#include <vector>

#include "core/measure/graph_profile.h"
#include "core/measure/span_table.h"
#include "core/records/rows.h"

namespace kernelscope {

/// One row a module that was timed or has GPU time of its own. `graph` may be null.
std::vector<ProfileModuleRow> moduleRows(const std::string& phase, const SpanTable& table, const GraphProfile* graph, const std::vector<ModuleInfo>& modules);

/// Tracks "cpu" and "span" of one eager pass, and "kernel" of the captured one where there is one and its kernels are known.
std::vector<ProfileEventRow> eventRows(const std::string& phase, const PassSpans& pass, const GraphProfile* graph, const std::vector<ModuleInfo>& modules);

/// In graph mode the pass is the graph: what eager passes said of it, which only warmed it up, goes. Span equals gpu, as in the rows.
void keepGraphAlone(std::vector<ProfileModuleRow>& modules, std::vector<ProfileEventRow>& events);

}  // namespace kernelscope
