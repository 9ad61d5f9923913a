#pragma once
// The device's state at one moment, for the strip at the window's foot and beside the samples.

#include "core/device/device.h"
#include "core/records/protocol.h"

namespace kernelscope {

/// Cheap (under a millisecond) and safe from any thread, also while a job runs.
Telemetry sampleTelemetry(const Device& device);

}  // namespace kernelscope
