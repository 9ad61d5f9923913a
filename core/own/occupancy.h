#pragma once
// How full a kernel makes a multiprocessor, and what keeps it from being fuller.

#include <cstdint>
#include <string>

#include "core/own/cuda_driver.h"

namespace kernelscope {

struct Occupancy {
    double percent = 0;     ///< threads resident, of those a multiprocessor can hold
    std::string limitedBy;  ///< in words
};

/// `blocks` is how many the driver says fit at once.
Occupancy occupancyOf(const driver::Resources& needs, const driver::DeviceLimits& limits, int threads, std::int64_t dynamicShared, int blocks);

}  // namespace kernelscope
