#pragma once
// A run as a row of the list of runs: the command line's `runs list`.

#include "core/client/store.h"
#include "core/records/row.h"

namespace kernelscope {

struct RunListRow {
    std::string id, when, kind, model, weights, device, dtype, status;
    std::int64_t rows = 0;  ///< of its own kind
    std::string headline;
    std::string tags;  ///< joined with commas
    std::string note;
    bool pinned = false;
};

template <>
struct RowSchema<RunListRow> {
    static constexpr std::string_view kName = "runs";
    static constexpr auto kFields = std::tuple{
        field("id", &RunListRow::id),         field("when", &RunListRow::when),       field("kind", &RunListRow::kind),
        field("model", &RunListRow::model),   field("weights", &RunListRow::weights), field("device", &RunListRow::device),
        field("dtype", &RunListRow::dtype),   field("status", &RunListRow::status),   field("rows", &RunListRow::rows),
        field("headline", &RunListRow::headline), field("tags", &RunListRow::tags),   field("note", &RunListRow::note),
        field("pinned", &RunListRow::pinned),
    };
};

/// The run's headline; of a run that came to none, why not.
std::string headlineOf(const RunHeader& header);

RunListRow runListRow(const RunSummary& run);

}  // namespace kernelscope
