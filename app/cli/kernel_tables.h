#pragma once
// Rows of validate, sweep, e2e and context as tables for a terminal, and what they say to a script.

#include <span>
#include <string>

#include "core/records/run.h"

namespace kernelscope::cli {

/// One line a variant and type with its worst figures; then every cell that is not right, with its reason.
std::string validateTable(std::span<const RowRecord> rows);
std::string sweepTable(std::span<const RowRecord> rows);
std::string endToEndTable(std::span<const RowRecord> rows);
/// One line a cell: what is chosen now, and what it replaces.
std::string tuneTable(std::span<const RowRecord> rows);
/// One line a point, with the shares of its module types.
std::string contextTable(std::span<const RowRecord> rows);

/// 2 where a row is wrong, else 3 where one crashed or hung, else 0.
int exitCodeOf(std::span<const RowRecord> rows);

}  // namespace kernelscope::cli
