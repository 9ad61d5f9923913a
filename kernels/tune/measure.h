#pragma once
// Device time of one call: a CUDA graph of many calls between two events, with L2 emptied before each cold replay.

#include <vector>

#include "kernels/tune/workload.h"

namespace kernelscope::tune {

struct Candidate {
    ks_launch_options options = KS_LAUNCH_OPTIONS_INIT;
    double coldUs = 0;
    double warmUs = 0;
    double chainUs = 0;
};

class Meter {
public:
    explicit Meter(cudaStream_t stream);

    /// Median microseconds a call over `rounds` replays for each candidate, interleaved. A candidate whose calls the library refuses gets
    /// a negative time.
    std::vector<double> measure(Workload& workload, Pattern pattern, const std::vector<ks_launch_options>& candidates, int calls, int rounds);

private:
    static constexpr size_t kFlushBytes = size_t{512} << 20;

    cudaStream_t m_stream;
    Buffer m_flush;
    Buffer m_sink;
    Event m_begin;
    Event m_end;
};

/// Buffer sets and calls a replay for a shape: about 0.7 ms of work, sets at least 240 MB apart.
struct Plan {
    int calls = 1;
    int sets = 1;
};
Plan planFor(const Shape& shape);

}  // namespace kernelscope::tune
