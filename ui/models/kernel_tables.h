#pragma once

#include "core/records/kernel_rows.h"
#include "ui/models/column_table.h"

namespace kernelscope::ui {

using SweepTable = ColumnTable<SweepRow>;
using ValidationTable = ColumnTable<ValidateRow>;

std::vector<ColumnSpec<SweepRow>> sweepColumns();
std::vector<ColumnSpec<ValidateRow>> validationColumns();

}  // namespace kernelscope::ui
