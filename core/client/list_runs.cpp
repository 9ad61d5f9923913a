#include "core/client/list_runs.h"

namespace kernelscope {

std::string headlineOf(const RunHeader& header) { return header.headline.empty() ? header.reason : header.headline; }

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
    row.headline = headlineOf(run.header);
    for (const std::string& tag : run.tags) row.tags += (row.tags.empty() ? "" : ",") + tag;
    row.note = run.note;
    row.pinned = run.pinned;
    return row;
}

}  // namespace kernelscope
