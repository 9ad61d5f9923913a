#pragma once
// Pieces of the HTML report. Only export_html*.cpp use this.

#include <span>
#include <string>
#include <string_view>

#include "core/records/context_rows.h"
#include "core/records/kernel_rows.h"
#include "core/records/run.h"

namespace kernelscope {

std::string escapedHtml(std::string_view text);
std::string typeColour(const std::string& type);

/// SVG charts with their titles; empty for a kind that has none. `shares`: what a context run keeps beside its rows.
std::string reportCharts(const RunHeader& header, std::span<const RowRecord> records, std::span<const RowRecord> shares);

std::string speedupCharts(std::span<const SweepRow> rows);
std::string contextCharts(std::span<const ContextRow> rows);
std::string contextShares(std::span<const ContextShareRow> rows);

}  // namespace kernelscope
