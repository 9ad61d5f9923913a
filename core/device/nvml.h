#pragma once
// The driver's management library, opened at run time: clocks, temperature, power, throttling, other processes.
// Absent or refusing, it says so in words; nothing else depends on it.

#include <string>

#include <nlohmann/json.hpp>

#include "core/records/protocol.h"

namespace kernelscope::nvml {

/// State of the GPU at this PCI address, as cuda::pciBusId gives it.
Telemetry sample(const std::string& pciBusId);

/// driver, vbios-independent facts for a run's header: driver version, clocks now and their maxima, power limit, persistence.
nlohmann::json environment(const std::string& pciBusId);

}  // namespace kernelscope::nvml
