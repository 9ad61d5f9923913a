#pragma once
// Measures the configurations of our CUDA kernels at the shapes of the dispatch tables (kernels/tune).

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

/// A shape of the tables: `hidden` is what they are indexed by (the MLP width for silu_mul).
struct TuneCell {
    std::string op, dtype;
    std::int64_t hidden = 0, rows = 0;
    bool plain = false;
};

/// Every cell of an operator's tables. Empty without CUDA.
std::vector<TuneCell> tuneCells(const std::string& op, const std::string& dtype);

/// The finalists of a cell, each with its status; with `check` only what the table in force chooses, status kept. One row of status skipped where
/// the cell does not fit the free memory, none where nothing suits the device. Precondition: CUDA device, activated. Errors: environment
/// (CUDA fails), cancelled.
Result<std::vector<TuneRow>> tuneCell(const TuneCell& cell, bool check, const Device& device, std::stop_token stop);

}  // namespace kernelscope
