#pragma once

#include "core/client/store.h"
#include "ui/models/column_table.h"

namespace kernelscope::ui {

using RunsTable = ColumnTable<RunSummary>;

/// When, what, model, device, type, headline, rows, status, tags and note.
std::vector<ColumnSpec<RunSummary>> runColumns();

}  // namespace kernelscope::ui
