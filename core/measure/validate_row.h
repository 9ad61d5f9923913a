#pragma once
// From the outcome of a check to the columns of its row.

#include "core/measure/validation.h"
#include "core/records/kernel_rows.h"

namespace kernelscope {

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
