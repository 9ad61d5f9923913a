#include "core/client/running_job.h"

#include "core/records/row_key.h"
#include "core/records/rows.h"

namespace kernelscope {

bool isResumable(std::string_view kind) { return kind == "validate" || kind == "sweep"; }

std::optional<RowRecord> rowOfLostCell(const std::string& kind, const std::string& cell, const std::string& status, const std::string& reason) {
    const RowType* type = findRowType(kind);
    if (!type || cell.empty()) return std::nullopt;
    auto values = valuesFromKey(*type, cell);
    if (!values) return std::nullopt;
    if (const int column = type->indexOf("status"); column >= 0) (*values)[static_cast<std::size_t>(column)] = status;
    if (const int column = type->indexOf("reason"); column >= 0) (*values)[static_cast<std::size_t>(column)] = reason;
    return RowRecord{kind, cell, std::move(*values)};
}

}  // namespace kernelscope
