#pragma once
// What the ledger needs and nobody has measured yet: each operator's share of a pass, and its native sequence against its
// replacement, alone.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/measure/operator_modules.h"
#include "core/measure/span_profile.h"
#include "core/measure/timing.h"
#include "core/ops/operator.h"

namespace kernelscope {

struct OperatorShare {
    std::string op;
    std::int64_t calls = 0;  ///< in a pass; 0: the pass does not use it, and its shares are 0
    std::optional<double> span, gpu;  ///< of the whole pass, 0 to 1
};

struct OperatorShares {
    std::vector<OperatorShare> shares;
    std::string note;  ///< why there is no GPU time; empty where there is, or where none is expected
};

struct ShareOptions {
    std::int64_t iterations = 20;
    std::int64_t warmup = 4;
    bool captured = false;  ///< the pass runs as a graph: there, span equals GPU time
};

/// Shares of `ops` in `pass`, which runs under a table that `operators` has instrumented.
Result<OperatorShares> measureOperatorShares(const std::string& phase, const Pass& pass, const std::vector<std::string>& ops, const OperatorModules& operators,
                                             Hooks& hooks, const Device& device, const ShareOptions& options, std::stop_token stop);

/// One operator's two forms in microseconds; device times only on CUDA, with cold buffers.
struct KernelPair {
    double nativeCallUs = 0, variantCallUs = 0;
    std::optional<double> nativeDeviceUs, variantDeviceUs;
};

/// Both forms on the same inputs in interleaved rounds. Precondition: `variant` has been validated at this shape and type.
Result<KernelPair> measureKernelPair(Meter& meter, const Operator& op, const Variant& variant, const OperatorShape& shape, at::ScalarType dtype, double eps,
                                     const Device& device, std::uint64_t seed, std::stop_token stop);

}  // namespace kernelscope
