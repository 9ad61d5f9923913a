#pragma once
// What the Context tab draws: a decode step against the length of its context and the batch.

#include <span>
#include <string>
#include <vector>

#include <QString>

#include "core/records/context_rows.h"
#include "ui/models/column_table.h"

namespace kernelscope::ui {

using ContextTable = ColumnTable<ContextRow>;
std::vector<ColumnSpec<ContextRow>> contextColumns();

/// One line a batch, points in order of the context.
struct ContextPoint { double context, value; std::optional<double> low, high; };
struct ContextLine { std::int64_t batch; std::vector<ContextPoint> points; };
std::vector<ContextLine> decodeLines(std::span<const ContextRow> rows);
/// Peak memory in GiB.
std::vector<ContextLine> memoryLines(std::span<const ContextRow> rows);

std::vector<std::int64_t> batchesOf(std::span<const ContextRow> rows);

/// One column a context of one batch: the module types' shares, in one order everywhere.
struct ShareColumn {
    std::int64_t context;
    std::vector<std::pair<std::string, double>> parts;  ///< type and per cent
};
std::vector<ShareColumn> shareColumns(std::span<const ContextShareRow> shares, std::int64_t batch, bool ofGpu);

/// "A token takes 1.9 times as long after 2048 tokens as after 32; Attention grows from 31 % to 58 %"
QString contextHeadline(std::span<const ContextRow> rows, std::span<const ContextShareRow> shares);

}  // namespace kernelscope::ui
