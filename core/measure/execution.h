#pragma once
// Ways to make a call under test: as it comes, behind a busy stream, out of a captured graph.

#include <functional>
#include <memory>

#include "core/device/device.h"
#include "core/ops/operator.h"
#include "core/records/result.h"

namespace kernelscope {

enum class Execution {
    plain,
    busyStream,  ///< on a stream whose inputs arrive only after a wait: who works on another stream reads too early
    captured,    ///< captured in a graph before the inputs are there, then replayed
};

struct Executed {
    Tensors results;
    std::shared_ptr<void> memory;  ///< that the results live in, where that is not their own
};

/// Calls `variant` once. `fill` puts the inputs' contents in place by work on the current stream. Waits for the end.
/// Errors: usage when the variant refuses; wrong when it cannot be captured; environment when the device faults.
Result<Executed> execute(const Variant& variant, const Operands& operands, Execution how, const Device& device, const std::function<void()>& fill);

/// The two ways that need CUDA; in a build without it they are errors.
Result<Executed> executeBehindBusyStream(const Variant& variant, const Operands& operands, const Device& device, const std::function<void()>& fill);
Result<Executed> executeCaptured(const Variant& variant, const Operands& operands, const Device& device, const std::function<void()>& fill);

/// The call with torch's exceptions as errors: usage. Out of memory passes through as the exception it is.
Result<Tensors> callVariant(const Variant& variant, const Operands& operands);

}  // namespace kernelscope
