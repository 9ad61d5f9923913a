#pragma once
// Puts the GPU time of a captured pass beside the spans of an eager one, row by row.

#include <string>
#include <vector>

#include "core/measure/graph_profile.h"
#include "core/measure/span_table.h"
#include "core/records/rows.h"

namespace kernelscope {

/// Fills kernels, gpu_us, self_gpu_us, kernel_us, gap_us and the gpu shares of `rows` (one phase at `level`, as SpanTable makes them).
/// A node counts to the nearest timed module around its own; nodes of none count to `unattributed`.
void addGpuColumns(std::vector<ProfileRow>& rows, const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level);

/// The rows of graph mode: span equals gpu, gap is 0, `total` is the plain replay, the tax is empty.
std::vector<ProfileRow> graphModeRows(const std::string& phase, const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level);

/// Raw samples of those rows, replay by replay, keyed as SpanTable keys them: self_span_us of each, span_us of `total`.
std::vector<SampleRow> graphModeSamples(const std::string& phase, const GraphProfile& graph, const std::vector<ModuleInfo>& modules, ProfileLevel level);

/// One row a kernel in order of execution, then unattributed (0), total and tax.
std::vector<ProfileRow> kernelRows(const std::string& phase, const GraphProfile& graph, const std::vector<ModuleInfo>& modules);

/// Self GPU time by module index, each node with its innermost module.
std::vector<double> selfGpuByModule(const GraphProfile& graph, std::size_t modules);

}  // namespace kernelscope
