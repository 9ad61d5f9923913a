#pragma once
// The events of a Chrome trace that a profile is made from.

#include <cstdint>
#include <istream>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/records/result.h"

namespace kernelscope {

struct TraceEvent {
    std::uint32_t name = 0;  ///< index into Trace::names
    std::int64_t thread = 0;
    std::int64_t correlation = -1;  ///< ties a kernel to the call that launched it
    double begin = 0, duration = 0;  ///< microseconds

    [[nodiscard]] double end() const { return begin + duration; }
};

struct Trace {
    std::vector<std::string> names;
    std::vector<TraceEvent> kernels;   ///< device work, copies included
    std::vector<TraceEvent> launches;  ///< runtime and driver calls with a correlation
    std::vector<TraceEvent> modules;   ///< "nn.Module: ..." spans
    std::vector<TraceEvent> steps;     ///< "ProfilerStep#..."
    std::string device;                ///< name of the first device it tells of
};

/// Errors: badInput (no JSON, no trace events, nothing a profile could be made of).
Result<Trace> readTrace(std::istream& input);

}  // namespace kernelscope
