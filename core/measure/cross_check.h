#pragma once
// GPU time of a captured pass held against the driver's trace of eager passes: type by type, kernel names one by one.

#include <string>
#include <vector>

#include "core/measure/device_trace.h"
#include "core/measure/graph_profile.h"
#include "core/records/rows.h"

namespace kernelscope {

/// All nodes of one name in one type of module.
struct CrossCheckKernel {
    std::string type, name;
    std::int64_t count = 0;
    double traceUs = 0, kernelUs = 0, backToBackUs = 0;  ///< sums
};

struct CrossCheck {
    std::vector<CrossCheckRow> rows;        ///< one a module type, then unattributed and total
    std::vector<CrossCheckKernel> kernels;  ///< in order of first appearance
};

/// Errors: cantTell, when trace and graph do not hold the same nodes in the same order (the message names the first that differs).
Result<CrossCheck> crossCheck(const std::string& phase, const GraphProfile& graph, const std::vector<std::vector<DeviceRecord>>& trace,
                                              const std::vector<ModuleInfo>& modules);

}  // namespace kernelscope
