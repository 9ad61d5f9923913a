#pragma once
// Everything the engine asks of CUDA outside the kernels. cuda_support.cpp answers with CUDA; cuda_absent.cpp is
// compiled instead in a build without it. No CUDA type appears here.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/device/border_clock.h"
#include "core/records/protocol.h"
#include "core/records/result.h"

namespace kernelscope::cuda {

/// GPUs that CUDA sees, ids cuda:0, cuda:1, ... Where there are none, one entry with id "cuda" whose `problem` says why.
std::vector<DeviceInfo> devices();

/// "CUDA 13.0, sm_90" or "no CUDA": for the build line.
std::string buildText();

/// "00000000:3B:00.0": the name that the driver's management library knows device `index` by.
std::string pciBusId(int index);

/// Makes device `index` current for this thread and gives it a stream of its own (never the default one, which
/// synchronises with others and cannot be captured). Errors: environment, with the driver's words.
Result<void> activate(int index);

/// Free and total memory in bytes of device `index`.
struct Memory { std::int64_t free = 0, total = 0; };
Result<Memory> memory(int index);

/// How a border's event is recorded. `driver` needs the least of the host; the others are there to be measured against it.
enum class EventCall { driver, runtime, driverPrefetched };

/// Pooled events on the stream that is this thread's current one at reset().
std::unique_ptr<BorderClock> makeBorderClock(EventCall how = EventCall::driver);

/// Blocks until the current stream is idle. Errors: environment, with CUDA's words for a sticky fault.
Result<void> synchronize();

/// The smallest step of the GPU's own clock in ns, read by a kernel of ours on the current stream. Errors: environment, when the kernel
/// does not run (no code for this GPU in the build).
Result<std::int64_t> clockStepNs();

/// Gives memory that libtorch caches back to the device.
void emptyCache();

/// gpu, compute_capability, driver, cuda_runtime, gpu_memory_bytes, l2_bytes, multiprocessors, ...
nlohmann::json environment(int index);

}  // namespace kernelscope::cuda
