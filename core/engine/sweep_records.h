#pragma once
// What a sweep records beside the rows of its cells: samples with the state of the device, where a kernel's errors are, and what the
// device could do at best.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/device/telemetry.h"
#include "core/engine/job.h"
#include "core/measure/timing.h"
#include "core/measure/validation.h"
#include "core/records/kernel_detail_rows.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

struct CellSamples {
    std::span<const double> deviceUs, callUs;
    std::span<const Telemetry> states;       ///< one every `roundsBetween`
    std::int64_t roundsBetween = 1;
};

/// Of the sweep row with that key.
void sendSamples(const std::string& key, const CellSamples& samples, const JobContext& context);

/// The map of an outcome, if it has one; `cell` names it.
void sendErrorMap(const ValidateRow& cell, const CaseOutcome& outcome, const JobContext& context);

/// `row` names operator, type and shape; `matmulFlopsPerSecond` is 0 where it is not known.
void sendRoofline(RooflineRow row, const Work& work, const DeviceLimits& limits, double matmulFlopsPerSecond, const JobContext& context);

}  // namespace kernelscope
