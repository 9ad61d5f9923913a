#pragma once
// From the outcome of a check to the columns of its row.

#include "core/measure/validation.h"
#include "core/records/kernel_detail_rows.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

/// The map of an outcome as a row of its own, for the cell that `row` names.
inline std::optional<ErrorMapRow> errorMapOf(const CaseOutcome& outcome, const ValidateRow& row) {
    if (!outcome.map) return std::nullopt;
    ErrorMapRow map = *outcome.map;
    map.op = row.op;
    map.variant = row.variant;
    map.dtype = row.dtype;
    map.hidden = row.hidden;
    map.rows = row.rows;
    map.caseName = row.caseName;
    return map;
}

inline void describeOutcome(const CaseOutcome& outcome, ValidateRow& row) {
    row.status = outcome.status;
    row.reason = outcome.reason;
    row.worstIndex = outcome.worstIndex;
    if (!outcome.stats || outcome.stats->elements == 0) return;
    const ErrorStats& stats = *outcome.stats;
    row.maxAbsErr = stats.maxAbs;
    row.maxUlp = stats.maxUlp;
    row.meanSignedErr = stats.signedSum / static_cast<double>(stats.elements);
    row.nativeMaxAbsErr = stats.nativeMaxAbs;
    row.nativeMaxUlp = stats.nativeMaxUlp;
    if (stats.nativeMaxAbs > 0) row.errRatio = stats.maxAbs / stats.nativeMaxAbs;
}

}  // namespace kernelscope
