#pragma once
// GPU time of a captured pass held against the driver's trace of eager passes: type by type, kernel names one by one.

#include <string>
#include <vector>

#include "core/measure/device_trace.h"
#include "core/measure/graph_profile.h"
#include "core/records/rows.h"

namespace kernelscope {

/// One row a module type, then unattributed and total. Errors: cantTell, when trace and graph do not hold the same nodes in the same order
/// (the message names the first that differs).
Result<std::vector<CrossCheckRow>> crossCheck(const std::string& phase, const GraphProfile& graph, const std::vector<std::vector<DeviceRecord>>& trace,
                                              const std::vector<ModuleInfo>& modules);

}  // namespace kernelscope
