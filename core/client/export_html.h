#pragma once
// Pieces of the HTML report. Only export_html*.cpp use this.

#include <span>
#include <string>
#include <string_view>

#include "core/records/run.h"

namespace kernelscope {

std::string escapedHtml(std::string_view text);

/// SVG charts with their titles; empty for a kind that has none.
std::string reportCharts(const RunHeader& header, std::span<const RowRecord> records);

}  // namespace kernelscope
