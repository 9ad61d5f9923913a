#pragma once
// What the End to end page draws, computed from its rows.

#include <map>
#include <optional>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <QString>

#include "core/records/kernel_rows.h"
#include "core/records/rows.h"
#include "core/records/statistics.h"
#include "ui/charts/value_bars.h"
#include "ui/models/column_table.h"

namespace kernelscope::ui {

using EndToEndTable = ColumnTable<EndToEndRow>;
std::vector<ColumnSpec<EndToEndRow>> endToEndColumns();

/// 95 % intervals of a configuration's medians, from its samples.
struct EndToEndInterval {
    std::optional<Interval> ttftMs, decodeMs, tokensPerS;
};
using EndToEndIntervals = std::map<std::string, EndToEndInterval>;  ///< by the row's key
EndToEndInterval e2eIntervals(const EndToEndRow& row, std::span<const SampleRow> samples);

/// One figure of all configurations with its interval where that is known; patched ones in the accent colour.
std::vector<ValueBar> e2eBars(std::span<const EndToEndRow> rows, std::optional<double> EndToEndRow::* figure, const EndToEndIntervals& intervals = {});

/// "generate() is 1.43x faster with these kernels (95 %: 1.41 to 1.45)"; in graph mode says so. Empty while nothing is known.
QString e2eHeadline(std::span<const EndToEndRow> rows);
/// "Predicted 1.40x from GPU time, 1.52x from the wall-clock share. All tokens are the same in both."
QString e2eSubline(std::span<const EndToEndRow> rows);

/// Native, what each operator's replacement takes away by the ledger in `result`, the prediction, what is not explained, and what
/// was measured: of the mode of the last patched row, by GPU time where that is known, else by span.
/// What the ledger says about the rest that it cannot explain; empty without one.
QString ledgerWords(const nlohmann::json& result, const std::string& mode);
std::vector<WaterfallStep> e2eWaterfall(std::span<const EndToEndRow> rows, const nlohmann::json& result);

}  // namespace kernelscope::ui
