#include "core/client/list_runs.h"

namespace kernelscope {

RunListRow runListRow(const RunSummary& run) {
    RunListRow row;
    row.id = run.header.id;
    row.when = run.header.when;
    row.kind = run.header.kind;
    row.model = run.header.model;
    row.weights = run.header.weights;
    row.device = run.header.device;
    row.dtype = run.header.dtype;
    row.status = std::string(toString(run.header.status));
    row.rows = run.rows;
    row.headline = run.header.headline;
    for (const std::string& tag : run.tags) row.tags += (row.tags.empty() ? "" : ",") + tag;
    row.note = run.note;
    row.pinned = run.pinned;
    return row;
}

}  // namespace kernelscope
