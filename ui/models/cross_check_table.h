#pragma once

#include "core/records/rows.h"
#include "ui/models/column_table.h"

namespace kernelscope::ui {

using CrossCheckTable = ColumnTable<CrossCheckRow>;

/// GPU time beside the driver's trace, a row a module type.
std::vector<ColumnSpec<CrossCheckRow>> crossCheckColumns();

}  // namespace kernelscope::ui
